"""A table session at a real server: taking a seat, requests, lost seats, leaving and watching."""

import asyncio

import pytest
from msgspec.structs import replace

from kit.players import MemoryPlayer
from kit.stepped_connection import run_ready_tasks
from kit.stepped_session import SteppedSession, stepped_session
from saratoga_client.net.connection import Connection, Timing
from saratoga_client.net.errors import CommandRefused
from saratoga_client.problems import Exit, Problem
from saratoga_client.session import table_session as module
from saratoga_client.session.race_witness import RaceWitness
from saratoga_protocol import events
from saratoga_protocol.commands import (
    AnyCommand,
    ChangeSettings,
    CreateTable,
    EndRace,
    JoinTable,
    Kick,
    LeaveTable,
    LockTable,
    NextRace,
    NotReady,
    Ready,
    Start,
    UnwatchTable,
    WatchTable,
)
from saratoga_rules.moves import DRAW
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS


async def table_of_ben(there: SteppedSession) -> tuple[MemoryPlayer, str]:
    """Let Ben open a table; return Ben and the table's code."""
    ben = await there.server.player("Ben")
    snapshot = await ben.at_table(CreateTable, game="canfield", cap=10)
    return ben, snapshot.table.code


# Taking a seat, and requests


async def test_a_player_sits_down_at_a_table() -> None:
    async with stepped_session() as there:
        _, code = await table_of_ben(there)
        assert (await there.do(there.session.sit_down(code))).code == code
        assert [type(command) for command in there.network.answered] == [JoinTable]
        assert {seat.name for seat in there.state.table.seats} == {"Ann", "Ben"}


async def test_a_refused_join_leaves_no_reader_of_later_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[AnyCommand] = []
    monkeypatch.setattr(RaceWitness, "see_answer", lambda races, sent, answer: read.append(sent))
    async with stepped_session() as there:
        with pytest.raises(Problem, match="no table with that code"):
            await there.do(there.session.sit_down("not-there-77"))
        assert read == []


async def test_the_host_sends_the_commands_of_a_host() -> None:
    async with stepped_session() as there:
        code = await there.gather()
        ben = await there.server.player("Ben")
        await ben.at_table(JoinTable, table=code)
        await there.do(there.session.ready())
        assert there.state.seat is not None
        assert there.state.seat.ready
        await there.do(there.session.not_ready())
        await there.do(there.session.change_settings(game="caprice", cap=3))
        assert (there.state.table.settings.game, there.state.table.settings.cap) == ("caprice", 3)
        await there.do(there.session.lock(True))
        assert there.state.table.locked
        await there.do(there.session.kick(ben.player))
        assert [seat.name for seat in there.state.table.seats] == ["Ann"]
        kinds = [type(command) for command in there.network.answered]
        assert kinds == [CreateTable, Ready, NotReady, ChangeSettings, LockTable, Kick]


@pytest.mark.parametrize(
    ("action", "command"), [("start", Start), ("end_race", EndRace), ("next_race", NextRace)]
)
async def test_a_refused_request_says_why(action: str, command: type) -> None:
    async with stepped_session() as there:
        await there.gather()
        with pytest.raises(Problem) as refused:
            await there.do(getattr(there.session, action)())
        assert isinstance(refused.value.__cause__, CommandRefused)
        assert refused.value.what == refused.value.__cause__.message
        assert type(there.network.answered[-1]) is command


async def test_a_table_of_an_unknown_game_cannot_be_opened() -> None:
    async with stepped_session() as there:
        with pytest.raises(Problem, match="no game of that name"):
            await there.do(there.session.open_table("golf"))


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


async def test_a_player_does_not_get_ready_for_a_reused_deal() -> None:
    async with stepped_session() as there:
        await there.gather()
        table = there.state.table
        await there.receive(
            events.TableChanged(
                table=replace(table, phase="countdown", racers=["b" * 16], version=98), now=0
            ),
            events.TableChanged(table=replace(table, phase="gathering", version=99), now=0),
        )
        with pytest.raises(Problem, match="nonces are already known"):
            await there.session.ready()
        assert any("racers were listed" in alarm for alarm in there.state.alarms)


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


async def test_a_request_without_an_answer_may_have_been_carried_out() -> None:
    async with stepped_session(timing=Timing(answer_within=0.01)) as there:
        there.attending.cancel()
        with pytest.raises(Problem, match="Check whether your command was carried out"):
            await there.session.open_table("canfield")


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
        bad = events.BoardView(race=race, count=9, view=view, banked=0, net=0, state="racing")
        await there.receive(events.BoardEnded(board=bad, at=1, number=1))
        assert "another version" in (await there.problem()).what


async def test_closing_the_own_connection_ends_the_session_without_a_problem() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.connection.close()
        await there.attending


# Leaving and watching


async def test_leaving_ends_the_session_without_a_problem() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.do(there.session.leave())
        await there.attending
        assert type(there.network.answered[-1]) is LeaveTable


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


async def test_a_refused_leave_keeps_the_seat() -> None:
    async with stepped_session() as there:
        await there.gather()
        there.network.refusals.append(("not_seated", False))
        with pytest.raises(Problem, match="no seat at that table"):
            await there.do(there.session.leave())
        assert not there.attending.done()


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
        assert kinds == [WatchTable, *([UnwatchTable] if is_connected else [])]


async def test_a_watcher_follows_the_race_and_cannot_play() -> None:
    async with stepped_session() as there:
        ben, code = await table_of_ben(there)
        carl = await there.server.player("Carl")
        await carl.at_table(JoinTable, table=code)
        await there.do(there.session.watch(code))
        await there.server.deal(ben, carl)
        await there.settle()
        assert there.state.phase == "running"
        assert len(there.state.table_view.standings) == 2
        assert not there.session.play(DRAW)
        await there.session.cash_out()
        await there.receive(events.SeatLost(table=code, reason="The table is closed."))
        assert "You no longer watch table" in (await there.problem()).what


async def test_a_seat_that_is_lost_in_a_running_race_raises_no_alarm() -> None:
    async with stepped_session() as there:
        await there.gather()
        await there.start_race()
        await there.receive(events.SeatLost(table=there.state.table.code, reason="Kicked."))
        assert "ALARM" not in (await there.problem()).what


async def test_a_player_with_a_seat_shows_activity_and_a_watcher_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[bool] = []
    monkeypatch.setattr(Connection, "show_activity", lambda _: shown.append(True))
    async with stepped_session() as there:
        _, code = await table_of_ben(there)
        await there.do(there.session.watch(code))
        there.session.note_activity()
        assert not shown
    async with stepped_session() as there:
        await there.gather()
        there.session.note_activity()
        assert shown == [True]
