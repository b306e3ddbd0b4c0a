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


async def test_a_bot_that_the_player_brings_sits_down_and_leaves_with_the_player() -> None:
    async with at_table("bot even", "quit") as (peer, playing, output):
        bot = await peer.server.peer()
        assert bot.hello is not None
        joining = await bot.command()
        assert joining == commands.JoinTable(id=joining.id, table=CODE)
        await bot.send(snapshot(re=joining.id))
        while not isinstance(command := await bot.command(), commands.LeaveTable):
            await bot.send(events.Done(re=command.id))
        await bot.send(events.Done(re=command.id))
        assert await playing is ExitReason.QUIT
    assert f"ok: {bot.hello.name} [even bot] has sat down" in output.lines


async def test_a_bot_that_loses_its_seat_says_why_and_the_player_plays_on() -> None:
    async with at_table("bot weak", "wait gathering", "wait countdown") as (peer, playing, output):
        bot = await peer.server.peer()
        assert bot.hello is not None
        joining = await bot.command()
        await bot.send(snapshot(re=joining.id))
        await bot.send(events.SeatLost(table=CODE, reason="The host has kicked you."))
        await bot.gone.wait()
        assert not playing.done()
        playing.cancel()
    (line,) = (line for line in output.lines if line.startswith("bot: "))
    assert line == f"bot: {bot.hello.name} has left."


async def test_a_table_without_room_refuses_the_bot() -> None:
    async with at_table("bot strong", "quit") as (peer, playing, output):
        bot = await peer.server.peer()
        joining = await bot.command()
        full = events.Refused(re=joining.id, code="table_full", message="That table is full.")
        await bot.send(full)
        assert await playing is ExitReason.QUIT
    assert any(line.startswith("no: ") and "table is full" in line for line in output.lines)


async def test_a_bot_s_strength_must_be_named() -> None:
    async with at_table("bot", "bot clever", "quit") as (_, playing, output):
        assert await playing is ExitReason.QUIT
    refusal = "no: Which bot? Type bot weak, bot even, or bot strong."
    assert output.lines.count(refusal) == 2
