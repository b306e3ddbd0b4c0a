"""A table in plain lines: joining, watching, and leaving."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from kit.recorded_output import RecordedOutput, scripted_session
from kit.scripted_server import CODE, PLAYER, TOKEN, ScriptedPeer, scripted_server, snapshot
from kit.voided_races import voided_race
from saratoga_client.net.connection import Connection
from saratoga_client.plain.session import ExitReason
from saratoga_client.plain.table import play_table
from saratoga_protocol import commands, events


@asynccontextmanager
async def at_table(
    *typed: str, is_watching: bool = False
) -> AsyncIterator[tuple[ScriptedPeer, "asyncio.Future[ExitReason]", RecordedOutput]]:
    """Join or watch a table and type these commands there."""
    async with scripted_server() as server, Connection(server.url, TOKEN) as connection:
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


async def test_quit_keeps_the_seat_for_a_minute_and_says_how_to_come_back() -> None:
    async with at_table("table", "quit") as (_, playing, output):
        assert await playing is ExitReason.QUIT
    assert output.lines[-1] == (
        f"quit; your seat is kept for 60 seconds. To come back: saratoga join {CODE}"
    )


async def test_a_watcher_unsubscribes_at_the_end_of_the_input() -> None:
    async with at_table(is_watching=True) as (peer, playing, output):
        leaving = await peer.command()
        assert leaving == commands.UnwatchTable(id=leaving.id, table=CODE)
        await peer.send(events.Done(re=leaving.id))
        assert await playing is ExitReason.INPUT_ENDED
    assert output.lines[-1] == "input: no more lines; you no longer watch this table"


async def test_a_command_is_answered_before_the_next_one_is_read() -> None:
    async with at_table("not ready", "table", "quit") as (peer, playing, output):
        withdrawing = await peer.command()
        assert isinstance(withdrawing, commands.NotReady)
        before = len(output.lines)
        await peer.send(events.Done(re=withdrawing.id))
        assert await playing is ExitReason.QUIT
    kinds = [line.split(":")[0] for line in output.lines[before:]]
    assert kinds[:2] == ["ok", f"table {CODE}"]


async def test_a_wait_for_a_result_ends_when_the_race_is_voided() -> None:
    async with at_table("not ready", "wait result", "quit") as (peer, playing, output):
        withdrawing = await peer.command()
        shown = snapshot().table
        gathers = replace(shown, version=9, race=f"{CODE}/2", voided=[voided_race(shown.race)])
        await peer.send(events.TableChanged(table=gathers, now=0))
        await peer.send(events.Done(re=withdrawing.id))
        async with asyncio.timeout(10):
            assert await playing is ExitReason.QUIT
    assert "no: The race was voided, so result does not come. Get ready again." in output.lines
