"""Keep the client's tests away from the files of this machine's user; give them servers."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kit.client_servers import OpenLobby, ScriptedServer, open_lobby, scripted_server
from saratoga_client.local.paths import HOME_VARIABLE


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with scripted_server() as running:
        yield running


@pytest.fixture
async def lobby() -> AsyncIterator[OpenLobby]:
    async with open_lobby() as opened:
        yield opened
