"""A player or a watcher at a table in plain lines, whose server the test scripts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from kit.recorded_output import RecordedOutput, scripted_session
from kit.scripted_server import CODE, PLAYER, TOKEN, ScriptedPeer, scripted_server, snapshot
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.plain.session import ExitReason
from saratoga_client.plain.table import play_table
from saratoga_protocol import commands, events


@asynccontextmanager
async def at_table(
    *typed: str,
    is_watching: bool = False,
    timing: Timing = Timing(),  # noqa: B008 - frozen
) -> AsyncIterator[tuple[ScriptedPeer, "asyncio.Future[ExitReason]", RecordedOutput]]:
    """Join or watch a table and type these commands there."""
    async with (
        scripted_server() as server,
        Connection(server.url, TOKEN, timing=timing) as connection,
    ):
        peer = await server.peer()
        session, output = scripted_session(*typed)
        playing = asyncio.ensure_future(
            play_table(connection, CODE, is_watching=is_watching, session=session)
        )
        entering = await peer.command()
        kind = commands.WatchTable if is_watching else commands.JoinTable
        assert entering == kind(id=entering.id, table=CODE)
        seats = [] if is_watching else [events.Seat(player=PLAYER, name="Anna")]
        entered = snapshot(re=entering.id)
        await peer.send(replace(entered, table=replace(entered.table, seats=seats)))
        yield peer, playing, output
