"""A table session at a real server: seats, lost seats, races, and leaving."""

import asyncio

import pytest
from msgspec.structs import replace

from kit.client_servers import SteppedSession, run_ready_tasks, stepped_session
from kit.players import MemoryPlayer
from saratoga_client.problems import Exit, Problem
from saratoga_client.session import table_session as module
from saratoga_client.session.move_sender import MoveSender
from saratoga_protocol import events
from saratoga_protocol.commands import (
    ChangeSettings,
    CreateTable,
    GetRecord,
    JoinTable,
    Kick,
    LeaveTable,
    LockTable,
    NextRace,
    Ready,
    Reveal,
    Start,
)
from saratoga_rules.moves import DRAW
from saratoga_server.domain.tables.countdown import CALL_MILLIS, COUNTDOWN_MILLIS
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS


async def table_of_ben(there: SteppedSession) -> tuple[MemoryPlayer, str]:
    """Let Ben open a table; return Ben and the table's code."""
    ben = await there.server.player("Ben")
    snapshot = await ben.at_table(CreateTable, game="canfield", cap=10)
    return ben, snapshot.table.code


# Taking a seat, and requests


async def test_a_player_does_not_get_ready_for_an_unknown_game() -> None:
    async with stepped_session() as there:
        await there.gather()
        table = there.state.table
        newer = replace(table, settings=replace(table.settings, game="golf"), version=99)
        await there.receive(events.TableChanged(table=newer, now=0))
        with pytest.raises(Problem, match="does not know the game golf") as refused:
            await there.session.ready()
        assert refused.value.code is Exit.TOO_OLD
        assert not there.network.commands


async def test_a_player_who_gets_ready_at_once_is_ready_for_the_deal_shown() -> None:
    async with stepped_session() as there:
        await there.gather()
        fresh = replace(there.state.table, commitment="d0" * 32, version=99)
        there.network.send_event(events.TableChanged(table=fresh, now=0))
        there.network.deliver_one()
        await there.session.until(lambda state: state.table.commitment == fresh.commitment)
        getting_ready = asyncio.create_task(there.session.ready())
        await run_ready_tasks()
        (command,) = there.network.commands
        assert isinstance(command, Ready)
        assert command.commitment == fresh.commitment
        getting_ready.cancel()


async def test_every_command_of_a_host_names_what_the_host_saw() -> None:
    """So a repeat of it, however late, touches no other deal, race or seat."""
    async with stepped_session() as there:
        await there.gather()
        table, session, seat = there.state.table, there.session, there.state.table.seats[-1]
        acts = [
            session.send(ChangeSettings, cap=5),
            session.send(Start),
            session.send(LockTable),
            session.send(NextRace),
            session.send(Kick, player=seat.player, epoch=seat.epoch),
            session.open_table("canfield"),
        ]
        asking = []
        for act in acts:
            asking.append(asyncio.create_task(act))
            await run_ready_tasks()
        change, start, lock, next_race, kick, create = there.network.commands
        assert isinstance(change, ChangeSettings)
        assert change.commitment == table.commitment
        for command in (start, lock, next_race):
            assert isinstance(command, Start | LockTable | NextRace)
            assert command.race == table.race
        assert isinstance(kick, Kick)
        assert kick.epoch == seat.epoch > 0
        assert isinstance(create, CreateTable)
        assert create.key is not None
        for each in asking:
            each.cancel()


# Lost seats


async def test_a_player_who_returns_too_late_learns_what_counts() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        await there.network.cut()
        there.session.play(DRAW)
        await there.server.pass_time(ABSENCE_MILLIS + 1)
        await there.network.restore()
        await there.settle()
        problem = await there.problem()
        assert "You were disconnected for too long" in problem.what
        assert "The server did not say whether your last move was made." in problem.remedy


@pytest.mark.usefixtures("impatient_checks")
async def test_the_notice_of_a_closed_table_is_shown() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        closed = replace(
            there.state.table, phase="closed", notice="Closed for the night.", version=99
        )
        await there.receive(events.TableChanged(table=closed, now=0))
        problem = await there.problem()
        assert "Closed for the night." in problem.what
        assert "unless the table was closed" in problem.remedy


async def test_a_server_that_sends_an_invalid_board_is_of_another_version() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        view = events.View(stock=0, columns=["ZZ"])
        race = there.own.race
        bad = events.BoardView(
            race=race, count=9, view=view, banked=0, net=0, state="racing", head="0" * 16
        )
        await there.receive(events.BoardChanged(board=bad, place=9, entries=["1 1 left"]))
        assert "another version" in (await there.problem()).what


# Leaving and watching


@pytest.mark.parametrize("is_noticed", [True, False])
async def test_leaving_a_server_that_has_died_ends_and_says_when_the_seat_is_freed(
    monkeypatch: pytest.MonkeyPatch, is_noticed: bool
) -> None:
    monkeypatch.setattr(module, "LEAVE_TIMEOUT", 0.01)
    async with stepped_session() as there:
        await there.gather()
        if is_noticed:
            await there.network.cut()
        # otherwise the network delivers nothing, as nothing runs it
        assert not await there.session.leave()
        with pytest.raises(Problem, match="it does not know") as problem:
            await there.attending
        assert "a minute after" in problem.value.remedy


@pytest.mark.parametrize("is_connected", [True, False])
async def test_a_watcher_leaves_even_without_an_answer(
    monkeypatch: pytest.MonkeyPatch, is_connected: bool
) -> None:
    monkeypatch.setattr(module, "LEAVE_TIMEOUT", 0.01)
    async with stepped_session() as there:
        _, code = await table_of_ben(there)
        await there.do(there.session.watch(code))
        if not is_connected:
            await there.network.cut()
        await there.do(there.session.leave())
        await there.attending
        kinds = [type(command) for command in there.network.answered]
        assert kinds == [JoinTable, *([LeaveTable] if is_connected else [])]


async def lose_connection_in_countdown(there: SteppedSession) -> None:
    """Get ready and start the countdown, then lose the connection before the nonce is revealed."""
    await there.gather()
    await there.do(there.session.ready())
    starting = asyncio.create_task(there.session.send(Start))
    await run_ready_tasks()
    await there.network.answer_one()
    while not starting.done():
        await there.server.settle()
        there.network.deliver_one()
        await there.network.quiet()
    await there.server.pass_time(CALL_MILLIS)
    while not there.network.commands:
        await there.server.settle()
        there.network.deliver_one()
        await there.network.quiet()
    assert [type(command) for command in there.network.commands] == [Reveal]
    await there.network.cut()
    assert there.state.phase == "countdown"
    assert there.state.link == "reconnecting"


async def test_after_reconnecting_in_the_countdown_the_nonce_is_revealed_and_the_race_starts() -> (
    None
):
    async with stepped_session() as there:
        await lose_connection_in_countdown(there)
        await there.network.restore()
        await there.settle()
        await there.pass_time(COUNTDOWN_MILLIS)
        assert there.session.play(DRAW)
        await there.settle()
        assert await there.moves() == ["draw"]
        assert there.state.alarms == ()


async def test_after_a_countdown_cancelled_meanwhile_the_player_can_get_ready_again() -> None:
    async with stepped_session() as there:
        await lose_connection_in_countdown(there)
        # without any nonce the countdown begins again, once
        for _ in range(2):
            await there.server.pass_time(COUNTDOWN_MILLIS)
        await there.network.restore()
        await there.settle()
        assert there.state.phase == "gathering"
        assert there.state.table.notice
        assert there.state.alarms == ()
        await there.do(there.session.ready())
        assert there.state.seat is not None
        assert there.state.seat.ready


async def finish_race(there: SteppedSession) -> str:
    """Race until the time limit; return the race's id."""
    await there.gather(cap=3)
    await there.start_race()
    race = there.own.race
    await there.do(there.session.cash_out())
    await there.pass_time(190_000)
    assert there.state.phase == "over"
    return race


async def test_a_record_is_requested_once_and_kept() -> None:
    async with stepped_session() as there:
        race = await finish_race(there)
        await there.session.until(lambda state: race in state.verifications)
        assert there.state.verifications[race].ok
        requests = [type(command) for command in there.network.answered].count(GetRecord)
        await there.network.cut()
        assert (await there.session.record(race)).race_id == race
        assert requests == 1


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("code", ["server_fault", "store_unavailable"])
async def test_cashing_out_with_an_unclear_answer_is_repeated_and_done_once(
    code: str, is_done: bool
) -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        there.network.refusals.append((code, is_done))
        await there.do(there.session.cash_out())
        assert there.own.state == "cash-out"
        assert await there.moves() == ["cash-out"]


async def test_an_unexpected_error_in_the_background_ends_the_session_and_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def stumble(sender: MoveSender, race: str, ticket: int) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(MoveSender, "send", stumble)
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        there.session.play(DRAW)
        with pytest.raises(ZeroDivisionError):
            await there.attending
        assert "unexpected error in a background task" in caplog.text
