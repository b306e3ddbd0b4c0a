"""A player at a table in plain lines, and bots that the player brings."""

import asyncio

from msgspec.structs import replace

from kit.plain_sessions import at_table
from kit.races import voided_race
from kit.scripted_server import CODE, snapshot
from saratoga_client.net.connection import Timing
from saratoga_client.plain.session import ExitReason
from saratoga_protocol import commands, events


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


async def test_a_host_adds_a_bot() -> None:
    async with at_table("bot even", "quit") as (peer, playing, output):
        asked = await peer.command()
        assert isinstance(asked, commands.AddBot)
        assert (asked.table, asked.level) == (CODE, "even")
        await peer.send(events.Done(re=asked.id))
        assert await playing is ExitReason.QUIT
    assert "ok: your even bot is on its way" in output.lines


async def test_a_bot_s_strength_must_be_named() -> None:
    async with at_table("bot", "bot clever", "quit") as (_, playing, output):
        assert await playing is ExitReason.QUIT
    refusal = "no: Which bot? Type bot weak, bot even, or bot strong."
    assert output.lines.count(refusal) == 2
