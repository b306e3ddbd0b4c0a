"""A table whose clock is stepped back: nothing waits for an hour that has passed already."""

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_shown,
    calling,
    counting,
    in_phase,
    running,
    seated,
)
from saratoga_rules.records.standing import LAST_BOARD_MILLIS
from saratoga_server.domain.tables import (
    BoardsDue,
    TablePhase,
    corrected,
    disconnect,
    due,
    elapse,
    last_board,
)
from saratoga_server.domain.tables.clock_steps import AHEAD_MILLIS
from saratoga_server.domain.tables.countdown import (
    CALL_MILLIS,
    COUNTDOWN_MILLIS,
    REVEAL_MILLIS,
    STALLED_MILLIS,
)
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS, LOOK_MILLIS

HOUR = 60 * 60_000


@pytest.mark.parametrize("phase", TablePhase)
def test_a_table_whose_times_are_possible_stays_the_same(phase: TablePhase) -> None:
    table = in_phase(phase)
    assert corrected(table, max(after(-AHEAD_MILLIS), table.touched, table.looked)) is table


def test_a_countdown_an_hour_away_begins_again_with_its_own_length() -> None:
    table = counting(ANN, BEN)
    back = after(-HOUR)
    again = corrected(table, back)
    assert again.start_at == back + COUNTDOWN_MILLIS - CALL_MILLIS
    assert again.reveal_by == back + REVEAL_MILLIS - CALL_MILLIS
    assert again.deadline - again.start_at == table.deadline - table.start_at
    assert (again.racers, again.commitment) == (table.racers, table.commitment)
    assert corrected(again, back) is again, "another node does not begin it once more"
    change = elapse(table, back, OTHER_SEED)
    assert change is not None
    assert (change.table, change.effects) == (again, ())
    assert due(change.table) == again.reveal_by


def test_a_call_an_hour_away_begins_again() -> None:
    back = after(-HOUR)
    again = corrected(calling(ANN, BEN), back)
    assert due(again) == again.call_until == back + CALL_MILLIS
    assert again.start_at == back + COUNTDOWN_MILLIS


def test_running_boards_are_checked_soon_and_the_race_keeps_its_times() -> None:
    table = running(ANN, BEN)
    back = after(-HOUR)
    assert due(table) == table.looked + LOOK_MILLIS
    again = corrected(table, back)
    assert due(again) == back + LOOK_MILLIS
    change = elapse(again, due(again) or back, OTHER_SEED)
    assert change is not None
    assert change.effects == (BoardsDue(),)
    assert (change.table.start_at, change.table.deadline) == (table.start_at, table.deadline)


def test_the_last_board_may_be_ended_a_minute_after_the_step() -> None:
    named = last_board(running(ANN, BEN), BEN, after(9_000))
    assert named is not None
    back = after(-HOUR)
    assert corrected(named.table, back).end_from == back + LAST_BOARD_MILLIS


def test_an_absence_lasts_a_minute_from_the_step() -> None:
    table = seated(ANN, BEN)
    seat = table.seat(BEN)
    assert seat is not None
    change = disconnect(table, BEN, seat.epoch, now=NOON)
    assert change is not None
    back = after(-HOUR)
    again = corrected(change.table, back)
    assert due(again) == back + ABSENCE_MILLIS
    (ann, ben) = again.seats
    assert (ann.node, ben.absent_since) == (NODE, back)


def test_an_idle_table_is_not_kept_for_the_hour_that_was_taken_back() -> None:
    table = replace(seated(ANN), served_since=NOON)
    back = after(-HOUR)
    again = corrected(table, back)
    assert (again.touched, again.served_since) == (back, back)


def test_a_step_forward_gives_racers_new_time_to_reveal_instead_of_voiding() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    voided = elapse(table, table.reveal_by, OTHER_SEED)
    assert voided is not None
    assert voided.table.phase is TablePhase.GATHERING
    late = after(REVEAL_MILLIS + STALLED_MILLIS + 1)
    change = elapse(table, late, OTHER_SEED)
    assert change is not None
    assert change.table.phase is TablePhase.COUNTDOWN
    assert change.table.reveal_by == late + REVEAL_MILLIS - CALL_MILLIS
    missed = elapse(change.table, change.table.reveal_by, OTHER_SEED)
    assert missed is not None
    assert missed.table.phase is TablePhase.GATHERING
