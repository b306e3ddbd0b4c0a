"""The typed command `bot`: bots that a player brings to a table."""

from kit.plain_sessions import at_table
from kit.scripted_server import CODE, snapshot
from saratoga_client.plain.session import ExitReason
from saratoga_protocol import commands, events


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
