"""Moves: dealt, judged, answered, and the endings of boards."""

from collections.abc import AsyncIterator

import pytest

from kit.in_process_server import (
    InProcessServer,
    always,
    counted_down,
    gathered,
    open_in_process_server,
)
from kit.players import MemoryPlayer
from saratoga_protocol.commands import CashOut, Heartbeat, JoinTable, MakeMove
from saratoga_protocol.events import (
    BoardChanged,
    RaceOver,
    Refused,
    SeatLost,
)
from saratoga_rules.records.record import parse_record
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_rules.records.verify import verify
from saratoga_server.domain.board import AHEAD_MILLIS
from saratoga_server.domain.tables.countdown import MINUTE
from saratoga_server.live.scheduler import LOOK_EVERY

# Moves and cash-outs: judged, stored before they are answered, and answered again when repeated


async def two_racing(server: InProcessServer) -> tuple[MemoryPlayer, MemoryPlayer]:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    await server.race(anna, bert)
    return anna, bert


def refused(answer: object) -> tuple[str, int | None]:
    """Return a refusal's code, and the number of moves on the board that came with it."""
    assert isinstance(answer, Refused), answer
    return answer.code, None if answer.board is None else answer.board.count


# Moves


@pytest.mark.parametrize("phase", ["gathering", "countdown"])
async def test_no_player_can_move_before_the_start(server: InProcessServer, phase: str) -> None:
    anna, bert = await server.player("Anna"), await server.player("Bert")
    code = await gathered(anna, bert)
    if phase == "countdown":
        await counted_down(anna, bert)
    assert await anna.refused(MakeMove, race=f"{code}/1", after=0, move="draw") == "wrong_phase"
    assert await anna.refused(CashOut, race=f"{code}/1") == "wrong_phase"
    assert anna.table.phase == phase


@pytest.mark.parametrize("kind", [MakeMove, CashOut])
async def test_only_racers_have_a_board(server: InProcessServer, kind: type) -> None:
    anna, bert, cleo = [await server.player(name) for name in ("Anna", "Bert", "Cleo")]
    code = await server.race(anna, bert)
    await cleo.at_table(JoinTable, table=code, seat=False)
    said = {"race": f"{code}/1"} | ({"after": 0, "move": "draw"} if kind is MakeMove else {})
    assert await cleo.refused(kind, **said) == "not_seated"
    await cleo.at_table(JoinTable, table=code)
    assert await cleo.refused(kind, **said) == "not_racing"
    assert await anna.refused(kind, **said | {"race": f"{code}/2"}) == "no_such_race"
    assert await anna.refused(kind, **said | {"race": "odd-emu-11/1"}) == "no_such_race"


# A store that fails


async def test_an_ending_whose_reply_was_lost_ends_the_race(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    await bert.cash_out()
    await server.pass_time(0)
    told = len(bert.received.events)
    command = CashOut(id=50, race=anna.board.race)
    server.faults.lost_replies = 1
    assert refused(await anna.send(command)) == ("store_unavailable", None)
    assert isinstance(await anna.send(command), BoardChanged)
    await server.settle()
    assert len(bert.received.all(RaceOver, told)) == 1


# The ends of boards: won, stuck, cashed out, out of time and left


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
    assert anna.received.endings() == []
    assert bert.board.state == "racing"


async def test_a_long_search_for_stuck_goes_on_in_the_background(
    nearly_stuck: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.play.INLINE_LIMIT", 0)
    anna, bert = await two_racing(nearly_stuck)
    answer = await anna.moves("draw")
    assert answer.board.state == "racing"
    await nearly_stuck.settle()
    (ended,) = anna.received.endings()
    assert (ended.board.state, ended.board.count) == ("stuck", 2)
    assert bert.received.endings() == []


async def test_a_search_for_stuck_is_out_of_date_after_another_move(
    nearly_stuck: InProcessServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saratoga_server.live.play.INLINE_LIMIT", 0)
    anna, _ = await two_racing(nearly_stuck)
    await anna.moves("draw")
    await anna.cash_out()
    await nearly_stuck.settle()
    assert anna.received.endings() == []
    stored = await nearly_stuck.board(anna.table.code, anna.player)
    assert [entry.text for entry in stored.entries] == ["draw", "cash-out"]


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
        assert [ended.board.state for ended in racer.received.endings()] == ["out-of-time"]
        (over,) = racer.received.all(RaceOver)
        assert [row.state for row in over.outcome.results] == ["out-of-time", "out-of-time"]
        assert racer.table.phase == "over"


async def test_the_board_of_a_racer_who_does_nothing_for_three_minutes_ends_and_the_seat_stays(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
    await anna.moves("draw")
    await server.pass_time(int(LOOK_EVERY * 1000) + AHEAD_MILLIS)
    (ended,) = bert.received.endings()
    assert ended.board.state == "idle"
    assert bert.received.all(SeatLost) == []
    assert anna.received.endings() == []
    assert [seat.name for seat in anna.table.seats] == ["Anna", "Bert"]
    await anna.cash_out()
    await server.settle()
    (over,) = bert.received.all(RaceOver)
    assert {result.player: result.state for result in over.outcome.results}[bert.player] == "idle"
    record = await server.record(anna.table.code)
    assert record is not None
    assert " idle\n" in record
    assert verify(parse_record(record)).ok


async def test_a_racer_who_gives_signs_of_activity_may_think_for_as_long_as_the_race_lasts(
    server: InProcessServer,
) -> None:
    anna, bert = await two_racing(server)
    for _ in range(3):
        await server.pass_time(IDLE_MILLIS - int(LOOK_EVERY * 1000))
        await anna.ask(Heartbeat)
        await bert.ask(Heartbeat, active=True)
    assert [each.board.state for each in anna.received.endings()] == ["idle"]
    assert bert.received.endings() == []
