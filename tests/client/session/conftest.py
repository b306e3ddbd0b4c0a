"""A player's fairness checks at a scripted server."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kit.scripted_server import TOKEN, ScriptedServer
from kit.scripted_table import DutifulPlayer
from saratoga_client.net.connection import Connection


@pytest.fixture
async def player(server: ScriptedServer, tmp_path: Path) -> AsyncIterator[DutifulPlayer]:
    async with Connection(server.url, TOKEN) as client:
        yield DutifulPlayer(client, await server.peer(), tmp_path)
