"""A bot connects under a free name and leaves its table at the end."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from kit.scripted_server import CODE, ScriptedServer, scripted_server, snapshot
from saratoga_client.bots.bot_connection import seated_bot
from saratoga_client.bots.identities import claim_identity
from saratoga_client.problems import Problem
from saratoga_protocol import commands, events

JOIN = partial(commands.JoinTable, table=CODE)
NOWHERE = "ws://127.0.0.1:1"


async def test_a_bot_joins_under_its_name_and_leaves_at_the_end(tmp_path: Path) -> None:
    async with scripted_server() as server:
        visit = await _bot_comes_and_goes(server, tmp_path)
    assert visit == ["Otto", "JoinTable", "LeaveTable"]


async def _bot_comes_and_goes(server: ScriptedServer, folder: Path) -> list[str]:
    """Let a bot join and leave; return its name and the commands that it sent."""
    bot = seated_bot(server.url, JOIN, "strong", name="Otto", folder=folder)
    entering = asyncio.ensure_future(bot.__aenter__())
    peer = await server.peer()
    assert peer.hello is not None
    assert (peer.hello.bot, peer.hello.level) == (True, "strong")
    join = await peer.command()
    await peer.send(snapshot(re=join.id))
    seated = await entering
    assert seated.code == CODE
    assert seated.shown_name == "Otto [strong bot]"
    leaving = asyncio.ensure_future(bot.__aexit__(None, None, None))
    leave = await peer.command()
    await peer.send(events.Done(re=leave.id))
    await leaving
    return [peer.hello.name or "", type(join).__name__, type(leave).__name__]


async def test_a_bot_that_runs_already_is_not_started_twice(tmp_path: Path) -> None:
    with (
        claim_identity("Gus", NOWHERE, tmp_path),
        pytest.raises(Problem, match="Gus is already running"),
    ):
        async with seated_bot(NOWHERE, JOIN, "strong", name="Gus", folder=tmp_path):
            pass


async def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with claim_identity("Gus", NOWHERE, tmp_path):
        pass
    (tmp_path / "gus.secret").chmod(0o644)
    with pytest.raises(Problem, match="chmod 600"):
        async with seated_bot(NOWHERE, JOIN, "strong", name="Gus", folder=tmp_path):
            pass
