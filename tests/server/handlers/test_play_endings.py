"""The ends of boards: won, stuck, cashed out, out of time and left."""

from collections.abc import AsyncIterator

import pytest

from kit.in_process_server import (
    InProcessServer,
    always,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from saratoga_protocol.commands import CashOut, Heartbeat, MakeMove
from saratoga_protocol.events import BoardEnded, MoveMade, RaceOver, Refused, SeatLost
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_rules.records.verify import verify
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.domain.tables.timers import LOOK_MILLIS

ONE_MOVE_TO_WIN = (
    "stock=2C waste=- reserve=- up=13,13,13,12 down=- columns=KD/-/-/- base=1 passes=1"
)

ONE_DRAW_TO_STUCK = (
    "stock=7C waste=- reserve=- up=1,1,1,1 down=- columns=5C/5S/9C/9S base=1 passes=1"
)


@pytest.fixture
async def nearly_won() -> AsyncIterator[InProcessServer]:
    async with open_in_process_server(always(ONE_MOVE_TO_WIN)) as opened:
        yield opened


@pytest.fixture
async def nearly_stuck() -> AsyncIterator[InProcessServer]:
    async with open_in_process_server(always(ONE_DRAW_TO_STUCK)) as opened:
        yield opened


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    return anna, bert


def refused(answer: object) -> tuple[str, int | None]:
    """Return a refusal's code, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


# Endings


async def test_a_win_ends_the_board(nearly_won: InProcessServer) -> None:
    anna, bert = await two_racing(nearly_won)
    answer = await anna.moves("t1>up")
    assert (answer.board.state, answer.board.banked, answer.board.net) == ("won", 52, 210)
    assert refused(await anna.move("draw")) == ("board_over", 1)
    assert bert.board.state == "racing"


async def test_a_stuck_board_is_ended_with_the_answer_to_the_move(
    nearly_stuck: InProcessServer,
) -> None:
    anna, bert = await two_racing(nearly_stuck)
    answer = await anna.moves("draw")
    assert (answer.board.state, answer.board.count) == ("stuck", 2)
    stored = await nearly_stuck.board(anna.table.code, anna.player)
    assert [entry.text for entry in stored.entries] == ["draw", "stuck"]
    assert anna.received.all(BoardEnded) == []
    assert bert.board.state == "racing"


async def test_a_long_search_for_stuck_goes_on_in_the_background(
    nearly_stuck: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.handlers.play.INLINE_LIMIT", 0)
    anna, bert = await two_racing(nearly_stuck)
    answer = await anna.moves("draw")
    assert answer.board.state == "racing"
    await nearly_stuck.settle()
    (ended,) = anna.received.all(BoardEnded)
    assert (ended.board.state, ended.board.count) == ("stuck", 2)
    assert bert.received.all(BoardEnded) == []


async def test_a_search_for_stuck_is_out_of_date_after_another_move(
    nearly_stuck: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.handlers.play.INLINE_LIMIT", 0)
    anna, _ = await two_racing(nearly_stuck)
    await anna.moves("draw")
    await anna.cash_out()
    await nearly_stuck.settle()
    assert anna.received.all(BoardEnded) == []
    stored = await nearly_stuck.board(anna.table.code, anna.player)
    assert [entry.text for entry in stored.entries] == ["draw", "cash-out"]


async def test_a_repeated_move_that_got_stuck_has_the_same_answer(
    nearly_stuck: InProcessServer,
) -> None:
    anna, _ = await two_racing(nearly_stuck)
    command = MakeMove(id=50, race=anna.board.race, after=0, move="draw")
    first, again = await anna.send(command), await anna.send(command)
    assert isinstance(first, MoveMade)
    assert isinstance(again, MoveMade)
    assert (again.board, again.repeat) == (first.board, True)


async def test_cashing_out_twice_is_once(server: InProcessServer) -> None:
    anna, _ = await two_racing(server)
    await anna.moves("draw")
    command = CashOut(id=50, race=anna.board.race)
    first, again = await anna.send(command), await anna.send(command)
    assert isinstance(first, MoveMade)
    assert isinstance(again, MoveMade)
    assert (first.board.state, first.board.count) == ("cashed out", 2)
    assert (again.board, again.repeat) == (first.board, True)
    anna.last_id = 50
    assert refused(await anna.ask(CashOut, race=anna.board.race)) == ("board_over", 2)
    assert refused(await anna.move("draw")) == ("board_over", 2)


async def test_a_move_after_the_deadline_by_the_stores_clock_ends_the_race_at_once(
    server: InProcessServer,
) -> None:
    """A new primary may be ahead: the table must not run on while every move is refused."""
    anna, bert = await two_racing(server)
    await bert.moves("draw")
    server.time.behind = -10 * MINUTE
    server.time.at += 1
    assert refused(await anna.move("draw")) == ("time_up", 0)
    await server.settle()
    for racer in (anna, bert):
        assert [ended.board.state for ended in racer.received.all(BoardEnded)] == ["out of time"]
        (over,) = racer.received.all(RaceOver)
        assert [row.state for row in over.outcome.results] == ["out of time", "out of time"]
        assert racer.table.phase == "over"


async def test_no_move_is_accepted_after_the_deadline(server: InProcessServer) -> None:
    anna, bert = await two_racing(server)
    await anna.moves("draw")
    server.time.at += 10 * MINUTE
    assert refused(await anna.move("draw")) == ("time_up", 1)
    assert (await anna.ask(CashOut, race=anna.board.race)).code == "time_up"
    await server.pass_time(0)
    for player, count in ((anna, 2), (bert, 1)):
        (ended,) = player.received.all(BoardEnded)
        assert (ended.board.state, ended.board.count) == ("out of time", count)
        assert len(player.received.all(RaceOver)) == 1


async def test_the_board_of_a_racer_who_does_nothing_for_three_minutes_ends_and_the_seat_stays(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    await server.pass_time(IDLE_MILLIS - LOOK_MILLIS)
    await anna.moves("draw")
    await server.pass_time(LOOK_MILLIS)
    (ended,) = bert.received.all(BoardEnded)
    assert ended.board.state == "idle"
    assert bert.received.all(SeatLost) == []
    assert anna.received.all(BoardEnded) == []
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bert"]
    await anna.cash_out()
    await server.settle()
    (over,) = bert.received.all(RaceOver)
    assert {result.name: result.state for result in over.outcome.results}["Bert"] == "idle"
    record = await server.record(anna.table.code)
    assert record is not None
    assert " idle\n" in record
    assert verify(parse_record(record)).ok


async def test_a_racer_who_gives_signs_of_activity_may_think_for_as_long_as_the_race_lasts(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    for _ in range(3):
        await server.pass_time(IDLE_MILLIS - LOOK_MILLIS)
        await anna.ask(Heartbeat)
        await bert.ask(Heartbeat, active=True)
    assert [each.board.state for each in anna.received.all(BoardEnded)] == ["idle"]
    assert bert.received.all(BoardEnded) == []


async def test_a_racer_alone_may_think_for_any_time(server: InProcessServer) -> None:
    anna = await server.player("Anna")
    await server.race(anna, cap=0)
    await server.pass_time(IDLE_MILLIS * 10)
    await anna.moves("draw")
