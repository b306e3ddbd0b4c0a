"""The host's place between races: passed on from a host who gives no sign to a person who does."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    in_phase,
    outcome,
    over,
    running,
    seated,
)
from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_server.domain.tables import (
    BETWEEN_RACES,
    Change,
    TablePhase,
    TableState,
    active,
    disconnect,
    due,
    elapse,
    finish,
    join,
    leave,
    lock,
    next_race,
    resume,
    still_here,
)
from saratoga_server.domain.tables.hosts import host_due
from saratoga_server.domain.tables.timers import ABSENCE_MILLIS, UNSERVED_MILLIS
from saratoga_server.ports import Millis

MINUTE = 60_000
AWAY = IDLE_MILLIS


def signs(table: TableState, *players: str, at: int) -> TableState:
    """Return the table after signs of these players, so many milliseconds after noon."""
    for player in players:
        change = active(table, player, after(at), now=after(at))
        assert change is not None
        table = change.table
    return table


def at_time(table: TableState, millis: int, since: int = 0) -> TableState:
    """Return the table after its timers at this time after noon."""
    change = elapse(table, after(millis), OTHER_SEED, (), after(since) if since else Millis(0))
    return table if change is None else change.table


def without(table: TableState, player: str, at: int) -> TableState:
    seat = table.seat(player)
    assert seat is not None
    change = disconnect(table, player, seat.epoch, now=after(at))
    assert change is not None
    return change.table


def ended(*players: str) -> TableState:
    """Return a table whose race ended at noon, with no sign since."""
    table = running(*players)
    table = replace(table, seats=tuple(replace(seat, active_at=NOON) for seat in table.seats))
    return finish(table, outcome(table), now=NOON).table


BETWEEN = pytest.mark.parametrize("make", [seated, ended], ids=["gathering", "over"])
Make = Callable[..., TableState]


@BETWEEN
def test_a_host_without_a_sign_for_three_minutes_passes_the_place_to_a_person_who_gave_one(
    make: Make,
) -> None:
    table = signs(make(ANN, BEN, CLEO), CLEO, at=MINUTE)
    assert due(table) == after(AWAY)
    assert at_time(table, AWAY - 1).host == ANN
    passed = at_time(table, AWAY)
    assert passed.host == CLEO, "Ben gave no sign since the host's last one"
    assert passed.notice == "Ann has been away for three minutes; Cleo is host now."
    assert [seat.player for seat in passed.seats] == [ANN, BEN, CLEO]
    assert at_time(passed, AWAY) is passed


@BETWEEN
def test_the_place_passes_on_as_soon_as_somebody_waits(make: Make) -> None:
    table = make(ANN, BEN)
    assert host_due(table) is None
    assert at_time(table, 2 * AWAY).host == ANN
    table = signs(table, BEN, at=3 * AWAY)
    assert due(table) == after(3 * AWAY), "the timer is not late"
    assert at_time(table, 3 * AWAY).host == BEN


def test_of_several_who_are_there_the_next_after_the_host_gets_the_place() -> None:
    table = signs(replace(seated(ANN, BEN, CLEO), host=BEN), ANN, CLEO, at=MINUTE)
    assert at_time(table, AWAY).host == CLEO


def test_the_hosts_own_signs_and_commands_keep_the_place() -> None:
    table = signs(seated(ANN, BEN), BEN, at=MINUTE)
    signed = signs(table, ANN, at=2 * MINUTE)
    assert host_due(signed) is None
    again = signs(signed, BEN, at=150_000)
    assert host_due(again) == after(2 * MINUTE + AWAY)
    locked = lock(table, ANN, 9, locked=True, now=after(2 * MINUTE)).table
    assert host_due(signs(locked, BEN, at=150_000)) == after(2 * MINUTE + AWAY)


def test_a_command_of_another_person_is_a_sign() -> None:
    table = lock(seated(ANN, BEN), ANN, 9, locked=False, now=after(1_000)).table
    table = join(table, CLEO, "Cleo", 1, node=NODE, now=after(MINUTE)).table
    assert at_time(table, 1_000 + AWAY).host == CLEO


def test_the_new_host_has_three_minutes_too() -> None:
    table = signs(seated(ANN, BEN, CLEO), BEN, at=1_000)
    table = at_time(signs(table, CLEO, at=AWAY - 1_000), AWAY)
    assert (table.host, host_due(table)) == (BEN, None)
    table = signs(table, CLEO, at=AWAY + 1_000)
    assert host_due(table) == after(2 * AWAY)
    left = leave(table, BEN, 9, now=after(AWAY + 2_000), fresh_seed=OTHER_SEED).table
    assert left.host == CLEO
    assert host_due(signs(left, ANN, at=AWAY + 3_000)) == after(AWAY + 2_000 + AWAY)


def test_a_host_alone_or_among_bots_keeps_the_place() -> None:
    alone = signs(seated(ANN), ANN, at=1_000)
    assert at_time(alone, 4 * AWAY).host == ANN
    among_bots = lock(seated(ANN, BEN, bots=(BEN,)), ANN, 9, locked=True, now=after(5)).table
    assert active(among_bots, BEN, after(9), now=after(9)) is None
    ready_bot = among_bots.with_seat(replace(among_bots.seats[1], active_at=after(MINUTE)))
    assert host_due(ready_bot) is None


def test_a_bot_stays_host() -> None:
    table = signs(seated(BEN, ANN, bots=(BEN,)), ANN, at=MINUTE)
    assert host_due(table) is None
    assert at_time(table, 2 * AWAY).host == BEN


@pytest.mark.parametrize("bots", [(), (BEN,)])
def test_the_silence_of_a_host_whom_nobody_awaited_counts_from_the_first_persons_arrival(
    bots: tuple[str, ...],
) -> None:
    table = seated(ANN, *bots, bots=bots)
    table = join(table, CLEO, "Cleo", 1, node=NODE, now=after(10 * MINUTE)).table
    assert table.host == ANN
    assert host_due(table) is None
    table = signs(table, CLEO, at=11 * MINUTE)
    assert host_due(table) == after(10 * MINUTE + AWAY)


def test_a_second_friend_does_not_give_the_host_more_time() -> None:
    table = signs(seated(ANN, BEN), BEN, at=MINUTE)
    table = join(table, CLEO, "Cleo", 1, node=NODE, now=after(2 * MINUTE)).table
    assert host_due(table) == after(AWAY)


def test_nothing_passes_on_in_a_race_and_the_host_has_three_minutes_after_it() -> None:
    for phase in set(TablePhase) - BETWEEN_RACES:
        table = in_phase(phase)
        assert host_due(table) is None
        assert active(table, BEN, after(9 * MINUTE), now=after(9 * MINUTE)) is None
    table = signs(over(ANN, BEN), BEN, at=2 * MINUTE)
    assert host_due(table) == after(MINUTE + AWAY)


def test_the_silence_goes_on_when_the_next_race_gathers() -> None:
    opened = next_race(over(ANN, BEN), ANN, 9, now=after(2 * MINUTE), fresh_seed=OTHER_SEED).table
    assert host_due(signs(opened, BEN, at=3 * MINUTE)) == after(2 * MINUTE + AWAY)


def test_time_in_which_no_node_could_serve_is_no_silence() -> None:
    table = signs(seated(ANN, BEN), BEN, at=MINUTE)
    in_time = at_time(table, AWAY + UNSERVED_MILLIS)
    assert in_time.host == BEN
    late = AWAY + UNSERVED_MILLIS + 1
    for excused in (at_time(table, late), at_time(table, AWAY, since=2 * MINUTE)):
        assert excused.host == ANN
        assert host_due(excused) is None
    assert host_due(signs(at_time(table, late), BEN, at=late + 1)) == after(late + AWAY)


def test_a_sign_before_a_lost_connection_does_not_count_for_another() -> None:
    table = without(signs(seated(ANN, BEN), BEN, at=MINUTE), BEN, AWAY - 10_000)
    assert host_due(table) is None
    back = resume(table, BEN, node=NODE, now=after(AWAY + 20_000)).table
    assert host_due(back) is None
    seat = table.seat(BEN)
    assert seat is not None
    here = still_here(table, BEN, seat.epoch, node=NODE)
    assert here is not None
    assert host_due(here.table) is None
    assert at_time(signs(back, BEN, at=AWAY + 30_000), AWAY + 30_000).host == BEN


def test_a_host_who_takes_over_a_connection_or_comes_back_counts_from_the_last_sign() -> None:
    table = signs(seated(ANN, BEN), ANN, at=MINUTE)
    table = resume(without(table, ANN, 70_000), ANN, node=NODE, now=after(80_000)).table
    assert host_due(signs(table, BEN, at=90_000)) == after(MINUTE + AWAY)
    moved = resume(signs(table, BEN, at=90_000), BEN, node="node-2", now=after(95_000)).table
    assert host_due(moved) == after(MINUTE + AWAY), "another device, without an absence"


def test_a_host_who_loses_the_seat_is_followed_as_ever() -> None:
    table = without(seated(ANN, BEN, CLEO), ANN, 1_000)
    assert at_time(table, 1_000 + ABSENCE_MILLIS).host == BEN


def test_an_older_sign_and_one_from_the_future_change_nothing() -> None:
    table = signs(seated(ANN, BEN), BEN, at=MINUTE)
    assert active(table, BEN, after(MINUTE - 1), now=after(2 * MINUTE)) is None
    change = active(table, BEN, after(9 * MINUTE), now=after(2 * MINUTE))
    assert change == Change(signs(table, BEN, at=2 * MINUTE))
    assert active(table, CLEO, after(MINUTE), now=after(MINUTE)) is None
