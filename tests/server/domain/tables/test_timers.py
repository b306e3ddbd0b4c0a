"""The timers of a table, which any node may carry out; a late one shows that no node could before."""

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
    counting,
    in_phase,
    outcome,
    over,
    running,
    seated,
    table_settings,
)
from saratoga_rules.records.standing import State
from saratoga_server.domain.tables import (
    TablePhase,
    TableState,
    disconnect,
    due,
    elapse,
    finish,
    join,
    leave,
)
from saratoga_server.domain.tables.timers import UNSERVED_MILLIS
from saratoga_server.ports import Millis

MINUTE = 60_000
HOUR = 60 * MINUTE


def swept(table: TableState, now: Millis, dead_nodes: tuple[str, ...] = ()) -> TableState:
    return elapse(table, now, OTHER_SEED, dead_nodes)


def without(table: TableState, player: str, now: Millis) -> TableState:
    """Return the table after the player's connection was lost."""
    seat = table.seat(player)
    assert seat is not None
    return disconnect(table, player, seat.epoch, now=now)


def served_until(table: TableState, now: Millis) -> TableState:
    """Return the table after all timers that run out before `now`, each applied in time."""
    while (at := due(table)) is not None and at < now:
        after_it = swept(table, at)
        if after_it is table:  # the race is over its time
            break
        table = after_it
    return table


@pytest.mark.parametrize("phase", TablePhase)
def test_before_the_next_timer_nothing_happens(phase: TablePhase) -> None:
    table = in_phase(phase)
    at = due(table)
    assert (at is None) == (phase is TablePhase.CLOSED)
    assert elapse(table, after(0) if at is None else Millis(at - 1), OTHER_SEED) is table


def test_a_minute_away_counts_as_leaving_at_a_table_with_others() -> None:
    table = without(seated(ANN, BEN), BEN, NOON)
    assert due(table) == after(MINUTE)
    assert elapse(table, after(MINUTE - 1), OTHER_SEED) is table
    change = swept(table, after(MINUTE))
    assert [seat.player for seat in change.seats] == [ANN]
    assert change.notice == "Ben was disconnected for too long and has lost the seat."


def test_a_disconnected_player_alone_at_the_table_keeps_the_seat_for_two_hours() -> None:
    table = served_until(without(running(ANN), ANN, after(9_000)), after(9_000 + 2 * HOUR))
    assert table.seats
    change = swept(table, after(9_000 + 2 * HOUR))
    assert change.left == {ANN: State.GONE}
    assert not change.seats


def test_absence_does_not_count_while_the_store_was_away() -> None:
    table = without(seated(ANN, BEN), BEN, NOON)
    back = after(MINUTE + 1)
    change = elapse(table, back, OTHER_SEED, (), back)
    assert [seat.absent_since for seat in change.seats] == [0, back]
    gone = elapse(change, after(2 * MINUTE + 1), OTHER_SEED, (), back)
    assert [seat.player for seat in gone.seats] == [ANN]


def test_players_on_a_dead_node_are_disconnected_from_now_on() -> None:
    table = running(ANN, BEN)
    change = swept(table, after(9_000), (NODE, "node-7"))
    assert [seat.absent_since for seat in change.seats] == [after(9_000)] * 2
    assert elapse(change, after(9_000), OTHER_SEED, (NODE,)) is change
    assert elapse(table, after(9_000), OTHER_SEED, ("node-7",)) is table


def test_a_race_is_due_at_its_deadline_until_it_is_over() -> None:
    table = running(ANN, BEN, settings=table_settings(game="canfield", cap=3))
    assert due(table) == table.deadline
    assert swept(table, Millis(table.deadline + 1)) is table
    assert due(running(ANN, BEN, settings=table_settings(game="canfield", cap=0))) is None


@pytest.mark.parametrize("table", [seated(ANN, BEN), over(ANN, BEN)])
def test_a_table_at_which_nothing_happens_closes_after_two_hours(table: TableState) -> None:
    moment = Millis(table.touched + 2 * HOUR)
    assert due(table) == moment
    assert swept(table, moment).notice == "The table was closed after two hours without activity."


def test_an_unswept_countdown_is_void_before_its_racers_are_gone() -> None:
    table = without(counting(ANN, BEN), BEN, after(-58_000))
    change = swept(table, after(3_500))
    assert change.phase is TablePhase.GATHERING


def test_a_late_sweep_begins_the_race_before_its_racers_are_gone() -> None:
    table = without(all_shown(counting(ANN, BEN)), BEN, after(-56_000))
    change = swept(table, after(5_500))
    assert change.phase is TablePhase.RUNNING


def test_a_table_that_everybody_has_left_in_the_race_does_not_close_before_the_race_has_ended() -> (
    None
):
    table = leave(running(ANN), ANN, now=after(9_000), fresh_seed=OTHER_SEED)
    table = served_until(table, after(9_000 + 30 * MINUTE))
    assert table.phase is TablePhase.RUNNING
    table = swept(table, after(9_000 + 30 * MINUTE))
    assert table.phase is TablePhase.RUNNING
    table = finish(table, outcome(table), now=after(9_000 + 31 * MINUTE))
    assert due(table) == after(9_000 + 61 * MINUTE)


def test_a_table_is_not_closed_when_its_countdown_is_called_off_after_a_step_of_the_clock() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    assert table.reveal_by
    # the countdown was started while the clock was two days behind, and planned again since
    table = replace(table, touched=Millis(table.touched - 48 * HOUR))
    called_off = swept(table, table.reveal_by)
    assert called_off.phase is TablePhase.GATHERING
    assert called_off.touched == table.reveal_by


# Time in which no node could serve the table


@pytest.mark.parametrize("outage", [UNSERVED_MILLIS + 1, 10 * HOUR])
def test_an_absence_whose_end_is_found_late_counts_anew(outage: int) -> None:
    table = without(running(ANN, BEN), BEN, after(9_000))
    late = after(9_000 + MINUTE + outage)
    change = swept(table, late)
    assert change.deadline == table.deadline, "time limits do not extend"
    assert swept(change, Millis(late + MINUTE - 1)).seat(BEN)
    assert swept(change, Millis(late + MINUTE)).seat(BEN) is None


def test_a_lone_absentee_has_a_minute_from_the_moment_at_which_another_joins() -> None:
    joins_at = after(9_000 + 130_000)
    table = served_until(without(running(ANN), ANN, after(9_000)), joins_at)
    table = join(table, BEN, "Ben", node=NODE, now=joins_at)
    at = due(table)
    assert at is not None
    assert at >= joins_at, "no timer is late, for all were applied in time"
    assert table.waited_since == joins_at, "idleness counts from then too"
    gone_at = Millis(joins_at + MINUTE)
    table = served_until(table, gone_at)
    assert table.seat(ANN)
    assert table.waited_since == joins_at
    assert swept(table, gone_at).seat(ANN) is None


def test_a_table_that_could_not_be_served_is_not_closed_before_players_can_return() -> None:
    empty = leave(seated(ANN), ANN, now=NOON, fresh_seed=OTHER_SEED)
    for table, kept in ((empty, 30 * MINUTE), (seated(ANN, BEN), 2 * HOUR)):
        back = Millis(table.touched + 5 * HOUR)
        late = swept(table, back)
        assert (late.phase, due(late)) == (TablePhase.GATHERING, back + kept)
