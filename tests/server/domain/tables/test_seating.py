"""Seats: joining, leaving, lost connections, and the host's place between races."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from kit.tables import (
    ANN,
    BEN,
    CLEO,
    DAN,
    NODE,
    NOON,
    OTHER_SEED,
    after,
    all_ready,
    counting,
    in_phase,
    outcome,
    over,
    running,
    seated,
)
from saratoga_rules.records.standing import IDLE_MILLIS, State
from saratoga_server.domain.tables import (
    BETWEEN_RACES,
    Change,
    CommandRejected,
    RacerLeft,
    SeatVacated,
    TableOptions,
    TablePhase,
    TableState,
    active,
    disconnect,
    due,
    elapse,
    finish,
    force_leave,
    join,
    kick,
    leave,
    lock,
    rename,
    still_here,
)
from saratoga_server.domain.tables.hosts import host_due
from saratoga_server.domain.tables.seating import MOST_KICKED
from saratoga_server.domain.tables.timers import UNSERVED_MILLIS
from saratoga_server.ports import Millis

# Seats: joining, leaving, the host, and lost connections


def players(table: TableState) -> list[str]:
    return [seat.player for seat in table.seats]


def left(table: TableState, player: str) -> TableState:
    return leave(table, player, 50, now=after(10), fresh_seed=OTHER_SEED).table


@pytest.mark.parametrize("table", [seated(ANN), counting(ANN), running(ANN), over(ANN)])
def test_a_player_who_joins_in_any_phase_gets_a_seat_and_does_not_race(table: TableState) -> None:
    joined = join(table, BEN, "Ben", 7, node=NODE, now=after(10)).table
    assert players(joined) == [ANN, BEN]
    assert joined.racers == table.racers
    assert joined.touched == after(10)


def test_every_seat_is_taken_once() -> None:
    table = seated(ANN, BEN, settings=TableOptions(game="canfield", seats=2))
    with pytest.raises(CommandRejected) as refused:
        join(table, CLEO, "Cleo", 1, node=NODE, now=NOON)
    assert refused.value.code == "table_full"


def test_a_lost_connection_leaves_the_seat_where_it_is() -> None:
    change = disconnect(seated(ANN, BEN), BEN, 2, now=after(10))
    assert change is not None
    seat = change.table.seat(BEN)
    assert seat is not None
    assert (seat.is_connected, seat.absent_since) == (False, after(10))
    back = join(change.table, BEN, "Ben", 9, node="node-2", now=after(20)).table.seat(BEN)
    assert back is not None
    assert (back.node, back.absent_since, back.epoch) == ("node-2", 0, 3)


def test_the_end_of_a_connection_that_was_taken_over_means_nothing() -> None:
    table = join(seated(ANN, BEN), BEN, "Ben", 9, node="node-2", now=NOON).table
    assert disconnect(table, BEN, 2, now=NOON) is None
    assert disconnect(table, CLEO, 1, now=NOON) is None
    gone = disconnect(table, BEN, 3, now=NOON)
    assert gone is not None
    assert disconnect(gone.table, BEN, 3, now=after(5)) is None


def test_if_the_host_goes_the_next_seat_is_host() -> None:
    table = left(seated(ANN, BEN, CLEO), ANN)
    assert (table.host, table.notice) == (BEN, "Ann has left. Ben is host now.")
    table = join(left(table, CLEO), ANN, "Ann", 60, node=NODE, now=NOON).table
    table = join(table, CLEO, "Cleo", 60, node=NODE, now=NOON).table
    assert left(table, BEN).host == ANN


def test_the_next_seat_is_sought_from_the_host_on_and_round_the_table() -> None:
    # with only bots left, nothing but the order of seats decides
    table = left(seated(ANN, BEN, CLEO, DAN, bots=(BEN, DAN)), ANN)
    assert (players(table), table.host) == ([BEN, CLEO, DAN], CLEO)
    table = left(table, CLEO)
    assert (players(table), table.host) == ([BEN, DAN], DAN)
    assert left(table, DAN).host == BEN


def test_a_kicked_player_cannot_join_again() -> None:
    change = kick(seated(ANN, BEN), ANN, 2, target=BEN, now=NOON, fresh_seed=OTHER_SEED)
    assert change.effects == (SeatVacated(BEN, "The host has kicked you from the table."),)
    assert change.table.notice == "Ann has kicked Ben."
    with pytest.raises(CommandRejected) as refused:
        join(change.table, BEN, "Ben", 9, node=NODE, now=NOON)
    assert refused.value.code == "kicked"


def test_a_table_remembers_only_so_many_kicked_players() -> None:
    table = replace(seated(ANN, BEN), kicked=(CLEO, *map(str, range(MOST_KICKED - 1))))
    kicked = kick(table, ANN, 2, target=BEN, now=NOON, fresh_seed=OTHER_SEED).table.kicked
    assert (len(kicked), kicked[-1], CLEO in kicked) == (MOST_KICKED, BEN, False)


@pytest.mark.parametrize("target", [ANN, DAN])
def test_only_other_players_with_a_seat_can_be_kicked(target: str) -> None:
    with pytest.raises(CommandRejected) as refused:
        kick(seated(ANN, BEN), ANN, 2, target=target, now=NOON, fresh_seed=OTHER_SEED)
    assert refused.value.code == "no_such_player"


def test_a_locked_table_is_closed_to_new_players_only() -> None:
    table = all_ready(seated(ANN, BEN))
    change = lock(table, ANN, 9, locked=True, now=NOON)
    assert (change.effects, change.table.locked) == ((), True)
    assert change.table.notice == "Ann has locked the table: nobody new can take a seat."
    assert (change.table.seats[1], change.table.commitment) == (table.seats[1], table.commitment)
    assert change.table.seats[0].is_ready
    with pytest.raises(CommandRejected) as refused:
        join(change.table, CLEO, "Cleo", 1, node=NODE, now=NOON)
    assert refused.value.code == "table_locked"
    back = join(change.table, BEN, "Ben", 60, node="elsewhere", now=NOON).table
    assert back.seats[1].node == "elsewhere"
    unlocked = lock(back, ANN, 10, locked=False, now=NOON).table
    assert players(join(unlocked, CLEO, "Cleo", 1, node=NODE, now=NOON).table) == [ANN, BEN, CLEO]


def test_a_lock_ends_when_only_bots_are_left() -> None:
    locked = lock(seated(ANN, BEN, CLEO, bots=(CLEO,)), ANN, 9, locked=True, now=NOON).table
    host_left = left(locked, ANN)
    assert (host_left.locked, host_left.host) == (True, BEN)
    bot_left = left(host_left, BEN)
    assert (bot_left.locked, bot_left.host) == (False, CLEO)
    again = lock(bot_left, CLEO, 9, locked=True, now=NOON).table
    assert again.locked, "a bot may lock its table"
    assert join(again, CLEO, "Cleo", 10, node=NODE, now=NOON).table.locked


def test_a_racer_who_leaves_the_table_leaves_the_race() -> None:
    table = running(ANN, BEN)
    change = leave(table, BEN, 50, now=after(9_000), fresh_seed=OTHER_SEED)
    assert change.effects == (RacerLeft(BEN, State.LEFT),)
    assert change.table.phase is TablePhase.RUNNING
    assert change.table.left == {BEN: State.LEFT}
    # the fields of the racer that the record will need stay
    assert change.table.racers == table.racers
    assert change.table.nonces == table.nonces
    assert change.table.name(BEN) == "Ben"


@pytest.mark.parametrize("table", [counting(ANN, BEN), running(ANN, BEN)])
def test_a_host_cannot_send_a_rival_away_from_the_race(table: TableState) -> None:
    with pytest.raises(CommandRejected) as refused:
        kick(table, ANN, 50, target=BEN, now=after(200), fresh_seed=OTHER_SEED)
    assert refused.value.code == "wrong_phase"
    assert refused.value.detail == "Ben is in this race. Kick Ben when it is over."


@pytest.mark.parametrize("table", [counting(ANN, BEN), running(ANN, BEN)])
def test_a_player_outside_the_race_can_be_kicked_during_it(table: TableState) -> None:
    table = join(table, CLEO, "Cleo", 1, node=NODE, now=after(200)).table
    change = kick(table, ANN, 50, target=CLEO, now=after(200), fresh_seed=OTHER_SEED)
    assert change.effects == (SeatVacated(CLEO, "The host has kicked you from the table."),)
    assert change.table.phase is table.phase


def test_a_racer_who_left_and_sits_again_does_not_leave_the_race_twice() -> None:
    table = left(running(ANN, BEN), BEN)
    table = join(table, BEN, "Ben", 51, node=NODE, now=after(9_000)).table
    change = leave(table, BEN, 52, now=after(9_500), fresh_seed=OTHER_SEED)
    assert change.effects == ()
    assert change.table.left == {BEN: State.LEFT}


def test_a_racer_whose_seat_is_taken_away_is_gone_and_has_not_left() -> None:
    change = force_leave(running(ANN, BEN), BEN, now=after(9_000), fresh_seed=OTHER_SEED)
    assert change is not None
    assert change.effects == (RacerLeft(BEN, State.GONE),)
    assert change.table.left == {BEN: State.GONE}
    assert force_leave(change.table, BEN, now=after(9_500), fresh_seed=OTHER_SEED) is None


def test_a_new_name_is_shown_at_the_table_but_not_written_into_the_race() -> None:
    change = rename(running(ANN, BEN), BEN, "Benny")
    assert change is not None
    assert change.table.name(BEN) == "Benny"
    assert change.table.racers[BEN].name == "Ben"
    assert rename(change.table, BEN, "Benny") is None
    assert rename(change.table, CLEO, "Cleo") is None


# The host's place between races: passed on from a host who gives no sign to a person who does


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


def test_the_hosts_own_signs_and_commands_keep_the_place() -> None:
    table = signs(seated(ANN, BEN), BEN, at=MINUTE)
    signed = signs(table, ANN, at=2 * MINUTE)
    assert host_due(signed) is None
    again = signs(signed, BEN, at=150_000)
    assert host_due(again) == after(2 * MINUTE + AWAY)
    locked = lock(table, ANN, 9, locked=True, now=after(2 * MINUTE)).table
    assert host_due(signs(locked, BEN, at=150_000)) == after(2 * MINUTE + AWAY)


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


def test_nothing_passes_on_in_a_race_and_the_host_has_three_minutes_after_it() -> None:
    for phase in set(TablePhase) - BETWEEN_RACES:
        table = in_phase(phase)
        assert host_due(table) is None
        assert active(table, BEN, after(9 * MINUTE), now=after(9 * MINUTE)) is None
    table = signs(over(ANN, BEN), BEN, at=2 * MINUTE)
    assert host_due(table) == after(MINUTE + AWAY)


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
    back = join(table, BEN, "Ben", 9, node=NODE, now=after(AWAY + 20_000)).table
    assert host_due(back) is None
    seat = table.seat(BEN)
    assert seat is not None
    here = still_here(table, BEN, seat.epoch, node=NODE)
    assert here is not None
    assert host_due(here.table) is None
    assert at_time(signs(back, BEN, at=AWAY + 30_000), AWAY + 30_000).host == BEN


def test_an_older_sign_and_one_from_the_future_change_nothing() -> None:
    table = signs(seated(ANN, BEN), BEN, at=MINUTE)
    assert active(table, BEN, after(MINUTE - 1), now=after(2 * MINUTE)) is None
    change = active(table, BEN, after(9 * MINUTE), now=after(2 * MINUTE))
    assert change == Change(signs(table, BEN, at=2 * MINUTE))
    assert active(table, CLEO, after(MINUTE), now=after(MINUTE)) is None
