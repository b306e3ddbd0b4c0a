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
)
from saratoga_rules.records.standing import State
from saratoga_server.domain.tables import (
    BoardsDue,
    Change,
    RacerLeft,
    SeatVacated,
    TableClosed,
    TableOptions,
    TablePhase,
    TableState,
    disconnect,
    due,
    elapse,
    finish,
    join,
    leave,
)
from saratoga_server.domain.tables.timers import LATE_MILLIS, LOOK_MILLIS, UNSERVED_MILLIS
from saratoga_server.ports import Millis

MINUTE = 60_000
HOUR = 60 * MINUTE


def swept(table: TableState, now: Millis, dead_nodes: tuple[str, ...] = ()) -> Change:
    change = elapse(table, now, OTHER_SEED, dead_nodes)
    assert change is not None
    return change


def without(table: TableState, player: str, now: Millis) -> TableState:
    """Return the table after the player's connection was lost."""
    seat = table.seat(player)
    assert seat is not None
    change = disconnect(table, player, seat.epoch, now=now)
    assert change is not None
    return change.table


def served_until(table: TableState, now: Millis) -> TableState:
    """Return the table after all timers that run out before `now`, each applied in time."""
    while (at := due(table)) is not None and at < now:
        table = swept(table, at).table
    return table


@pytest.mark.parametrize("phase", TablePhase)
def test_before_the_next_timer_nothing_happens(phase: TablePhase) -> None:
    table = in_phase(phase)
    at = due(table)
    assert (at is None) == (phase is TablePhase.CLOSED)
    assert elapse(table, after(0) if at is None else Millis(at - 1), OTHER_SEED) is None


def test_a_minute_away_counts_as_leaving_at_a_table_with_others() -> None:
    table = without(seated(ANN, BEN), BEN, NOON)
    assert due(table) == after(MINUTE)
    assert elapse(table, after(MINUTE - 1), OTHER_SEED) is None
    change = swept(table, after(MINUTE))
    assert change.effects == (
        SeatVacated(BEN, "You were disconnected for too long, so your seat was given up."),
    )
    assert [seat.player for seat in change.table.seats] == [ANN]
    assert change.table.notice == "Ben was disconnected for too long and has lost the seat."


def test_a_racer_away_for_a_minute_leaves_the_race() -> None:
    table = served_until(without(running(ANN, BEN), BEN, after(9_000)), after(9_000 + MINUTE))
    change = swept(table, after(9_000 + MINUTE))
    assert change.effects == (
        RacerLeft(BEN, State.GONE),
        SeatVacated(BEN, "You were disconnected for too long, so your seat was given up."),
    )
    assert change.table.left == {BEN: State.GONE}


def test_a_disconnected_player_alone_at_the_table_keeps_the_seat_for_two_hours() -> None:
    table = served_until(without(running(ANN), ANN, after(9_000)), after(9_000 + 2 * HOUR))
    assert table.seats
    change = swept(table, after(9_000 + 2 * HOUR))
    assert RacerLeft(ANN, State.GONE) in change.effects
    assert not change.table.seats


def test_absence_does_not_count_before_the_server_started_or_its_clock_was_stepped() -> None:
    table = without(seated(ANN, BEN), BEN, NOON)
    stepped = after(4 * MINUTE)
    change = elapse(table, stepped, OTHER_SEED, (), stepped)
    assert change is not None
    assert change.effects == ()
    assert [seat.absent_since for seat in change.table.seats] == [0, stepped]
    assert elapse(change.table, stepped, OTHER_SEED, (), stepped) is None
    gone = elapse(change.table, after(5 * MINUTE), OTHER_SEED, (), stepped)
    assert gone is not None
    assert [seat.player for seat in gone.table.seats] == [ANN]


def test_players_on_a_dead_node_are_disconnected_from_now_on() -> None:
    table = running(ANN, BEN)
    change = swept(table, after(9_000), (NODE, "node-7"))
    assert change.effects == ()
    assert [seat.absent_since for seat in change.table.seats] == [after(9_000)] * 2
    assert elapse(change.table, after(9_000), OTHER_SEED, (NODE,)) is None
    assert elapse(table, after(9_000), OTHER_SEED, ("node-7",)) is None


def test_running_boards_are_looked_over_at_the_deadline() -> None:
    table = running(ANN, BEN, settings=TableOptions(game="canfield", cap=3))
    deadline = Millis(table.deadline)
    table = swept(table, Millis(deadline - 1)).table
    assert due(table) == deadline
    change = swept(table, deadline)
    assert change.effects == (BoardsDue(),)
    # the node that checked may have died, or its clock may be ahead: another check follows soon
    assert due(change.table) == deadline + LATE_MILLIS
    assert due(swept(change.table, Millis(deadline + LATE_MILLIS)).table) == deadline + 1_000


def test_an_empty_table_closes_after_half_an_hour() -> None:
    table = leave(seated(ANN), ANN, 2, now=NOON, fresh_seed=OTHER_SEED).table
    assert due(table) == after(30 * MINUTE)
    change = swept(table, after(30 * MINUTE))
    assert change.effects == (TableClosed("The table was closed because it was empty."),)
    assert change.table.phase is TablePhase.CLOSED
    assert due(change.table) is None


@pytest.mark.parametrize("table", [seated(ANN, BEN), over(ANN, BEN)])
def test_a_table_at_which_nothing_happens_closes_after_two_hours(table: TableState) -> None:
    moment = Millis(table.touched + 2 * HOUR)
    assert due(table) == moment
    change = swept(table, moment)
    reason = "The table was closed after two hours without activity."
    assert change.effects == (
        SeatVacated(ANN, reason),
        SeatVacated(BEN, reason),
        TableClosed(reason),
    )


def test_an_unswept_countdown_is_void_before_its_racers_are_gone() -> None:
    table = without(counting(ANN, BEN), BEN, after(-58_000))
    change = swept(table, after(3_500))
    assert change.table.phase is TablePhase.GATHERING
    assert [type(effect).__name__ for effect in change.effects] == [
        "RaceVoided",
        "SeatVacated",
    ]


def test_a_late_sweep_begins_the_race_before_its_racers_are_gone() -> None:
    table = without(all_shown(counting(ANN, BEN)), BEN, after(-56_000))
    change = swept(table, after(5_500))
    assert change.table.phase is TablePhase.RUNNING
    assert [type(effect).__name__ for effect in change.effects] == [
        "RaceStarted",
        "RacerLeft",
        "SeatVacated",
    ]


def test_a_table_that_everybody_has_left_in_the_race_does_not_close_before_the_race_has_ended() -> (
    None
):
    table = leave(running(ANN), ANN, 9, now=after(9_000), fresh_seed=OTHER_SEED).table
    # boards are still looked over, so that some node finishes the race
    assert due(table) == after(20_000)
    table = served_until(table, after(9_000 + 30 * MINUTE))
    assert table.phase is TablePhase.RUNNING
    table = swept(table, after(9_000 + 30 * MINUTE)).table
    assert table.phase is TablePhase.RUNNING
    table = finish(table, outcome(table), now=after(9_000 + 31 * MINUTE)).table
    assert due(table) == after(9_000 + 61 * MINUTE)


def test_a_table_is_not_closed_when_its_countdown_is_called_off_after_a_step_of_the_clock() -> None:
    table = all_shown(counting(ANN, BEN), ANN)
    assert table.reveal_by
    # the countdown was started while the clock was two days behind, and planned again since
    table = replace(table, touched=Millis(table.touched - 48 * HOUR))
    called_off = swept(table, table.reveal_by).table
    assert called_off.phase is TablePhase.GATHERING
    assert called_off.touched == table.reveal_by


# Time in which no node could serve the table


@pytest.mark.parametrize("outage", [UNSERVED_MILLIS + 1, 10 * HOUR])
def test_a_late_look_at_running_boards_counts_idleness_and_absence_anew(outage: int) -> None:
    table = served_until(without(running(ANN, BEN), BEN, after(9_000)), after(2 * LOOK_MILLIS))
    at = due(table)
    assert at is not None
    change = swept(table, Millis(at + outage))
    assert change.effects == (BoardsDue(),)
    assert change.table.served_since == at + outage
    assert change.table.deadline == table.deadline, "time limits do not extend"
    again = change.table.seat(BEN)
    assert again is not None
    gone_at = Millis(max(again.absent_since, after(9_000)) + MINUTE)
    assert served_until(change.table, gone_at).seat(BEN)
    assert swept(served_until(change.table, gone_at), gone_at).table.seat(BEN) is None


def test_a_lone_absentee_has_a_minute_from_the_moment_at_which_another_joins() -> None:
    joins_at = after(9_000 + 130_000)
    table = served_until(without(running(ANN), ANN, after(9_000)), joins_at)
    table = join(table, BEN, "Ben", 1, node=NODE, now=joins_at).table
    at = due(table)
    assert at is not None
    assert at >= joins_at, "no timer is late, for all were applied in time"
    assert table.served_since == joins_at, "idleness counts from then too"
    gone_at = Millis(joins_at + MINUTE)
    table = served_until(table, gone_at)
    assert table.seat(ANN)
    assert table.served_since == joins_at
    assert swept(table, gone_at).table.seat(ANN) is None


def test_a_table_that_could_not_be_served_is_not_closed_before_players_can_return() -> None:
    empty = leave(seated(ANN), ANN, 2, now=NOON, fresh_seed=OTHER_SEED).table
    for table, kept in ((empty, 30 * MINUTE), (seated(ANN, BEN), 2 * HOUR)):
        back = Millis(table.touched + 5 * HOUR)
        late = swept(table, back).table
        assert (late.phase, due(late)) == (TablePhase.GATHERING, back + kept)
        restarted = elapse(
            table, Millis(table.touched + kept), OTHER_SEED, (), Millis(table.touched + kept)
        )
        assert restarted is not None
        assert restarted.table.phase is TablePhase.GATHERING
