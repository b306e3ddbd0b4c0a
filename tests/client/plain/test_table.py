"""A player at a table in plain lines, and bots that the player brings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from kit.client_servers import PLAYER, TOKEN, ScriptedPeer, scripted_server, snapshot
from kit.line_client import RecordedOutput, scripted_session
from kit.races import voided_race
from kit.session_states import CODE
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
        assert entering == commands.JoinTable(id=entering.id, table=CODE, seat=not is_watching)
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
        assert leaving == commands.LeaveTable(id=leaving.id, table=CODE)
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
        gathers = replace(shown, version=9, race=f"{CODE}/2", previous=voided_race(shown.race))
        await peer.send(events.TableChanged(table=gathers, now=0))
        await peer.send(events.Done(re=withdrawing.id))
        async with asyncio.timeout(10):
            assert await playing is ExitReason.QUIT
    assert "no: The race was voided, so result does not come. Get ready again." in output.lines


async def test_a_typed_line_is_a_sign_of_activity_but_not_of_a_watcher() -> None:
    often = Timing(heartbeat_every=0.0)
    async with at_table("not ready", "quit", timing=often) as (peer, _, _):
        assert isinstance(await peer.command(), commands.NotReady)
        async with asyncio.timeout(10):
            while not (await peer.server.heartbeats.get()).active:
                continue
    async with at_table("table", is_watching=True, timing=often) as (peer, _, _):
        assert isinstance(await peer.command(), commands.LeaveTable)
        heartbeats = [await peer.server.heartbeats.get() for _ in range(20)]
        assert not any(heartbeat.active for heartbeat in heartbeats)


async def test_a_host_adds_a_bot_whose_strength_must_be_named() -> None:
    async with at_table("bot", "bot clever", "bot even", "quit") as (peer, playing, output):
        asked = await peer.command()
        assert isinstance(asked, commands.AddBot)
        assert (asked.table, asked.level) == (CODE, "even")
        await peer.send(events.Done(re=asked.id))
        assert await playing is ExitReason.QUIT
    assert "ok: your even bot is on its way" in output.lines
    refusal = "no: Which bot? Type bot weak, bot even, or bot strong."
    assert output.lines.count(refusal) == 2
