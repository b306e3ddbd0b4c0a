"""Seats: joining, leaving, lost connections, and the host's place between races."""

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
    over,
    running,
    seated,
    table_settings,
)
from saratoga_rules.records.standing import IDLE_MILLIS, State
from saratoga_server.domain.tables import (
    BETWEEN_RACES,
    CommandRejected,
    TablePhase,
    TableState,
    disconnect,
    force_leave,
    host_passed_on,
    join,
    kick,
    leave,
    lock,
    rename,
)
from saratoga_server.domain.tables.seating import MOST_KICKED

# Seats: joining, leaving, the host, and lost connections


def players(table: TableState) -> list[str]:
    return [seat.player for seat in table.seats]


def left(table: TableState, player: str) -> TableState:
    return leave(table, player, now=after(10), fresh_seed=OTHER_SEED)


@pytest.mark.parametrize("table", [seated(ANN), counting(ANN), running(ANN), over(ANN)])
def test_a_player_who_joins_in_any_phase_gets_a_seat_and_does_not_race(table: TableState) -> None:
    joined = join(table, BEN, "Ben", node=NODE, now=after(10))
    assert players(joined) == [ANN, BEN]
    assert joined.racers == table.racers
    assert joined.touched == after(10)


def test_every_seat_is_taken_once() -> None:
    table = seated(ANN, BEN, settings=table_settings(game="canfield", seats=2))
    with pytest.raises(CommandRejected) as refused:
        join(table, CLEO, "Cleo", node=NODE, now=NOON)
    assert refused.value.code == "table_full"


def test_a_lost_connection_leaves_the_seat_where_it_is() -> None:
    change = disconnect(seated(ANN, BEN), BEN, 2, now=after(10))
    seat = change.seat(BEN)
    assert seat is not None
    assert (seat.is_connected, seat.absent_since) == (False, after(10))
    back = join(change, BEN, "Ben", node="node-2", now=after(20)).seat(BEN)
    assert back is not None
    assert (back.node, back.absent_since, back.epoch) == ("node-2", 0, 3)


def test_the_end_of_a_connection_that_was_taken_over_means_nothing() -> None:
    table = join(seated(ANN, BEN), BEN, "Ben", node="node-2", now=NOON)
    assert disconnect(table, BEN, 2, now=NOON) is table
    assert disconnect(table, CLEO, 1, now=NOON) is table
    gone = disconnect(table, BEN, 3, now=NOON)
    assert disconnect(gone, BEN, 3, now=after(5)) is gone


def test_if_the_host_goes_the_next_seat_is_host() -> None:
    table = left(seated(ANN, BEN, CLEO), ANN)
    assert (table.host, table.notice) == (BEN, "Ann has left. Ben is host now.")
    table = join(left(table, CLEO), ANN, "Ann", node=NODE, now=NOON)
    table = join(table, CLEO, "Cleo", node=NODE, now=NOON)
    assert left(table, BEN).host == ANN


def test_the_next_seat_is_sought_from_the_host_on_and_round_the_table() -> None:
    # with only bots left, nothing but the order of seats decides
    table = left(seated(ANN, BEN, CLEO, DAN, bots=(BEN, DAN)), ANN)
    assert (players(table), table.host) == ([BEN, CLEO, DAN], CLEO)
    table = left(table, CLEO)
    assert (players(table), table.host) == ([BEN, DAN], DAN)
    assert left(table, DAN).host == BEN


def test_a_kicked_player_cannot_join_again() -> None:
    change = kick(seated(ANN, BEN), ANN, target=BEN, now=NOON, fresh_seed=OTHER_SEED)
    assert change.notice == "Ann has kicked Ben."
    with pytest.raises(CommandRejected) as refused:
        join(change, BEN, "Ben", node=NODE, now=NOON)
    assert refused.value.code == "kicked"


def test_a_table_remembers_only_so_many_kicked_players() -> None:
    table = replace(seated(ANN, BEN), kicked=(CLEO, *map(str, range(MOST_KICKED - 1))))
    kicked = kick(table, ANN, target=BEN, now=NOON, fresh_seed=OTHER_SEED).kicked
    assert (len(kicked), kicked[-1], CLEO in kicked) == (MOST_KICKED, BEN, False)


@pytest.mark.parametrize("target", [ANN, DAN])
def test_only_other_players_with_a_seat_can_be_kicked(target: str) -> None:
    with pytest.raises(CommandRejected) as refused:
        kick(seated(ANN, BEN), ANN, target=target, now=NOON, fresh_seed=OTHER_SEED)
    assert refused.value.code == "no_such_player"


def test_a_locked_table_is_closed_to_new_players_only() -> None:
    table = all_ready(seated(ANN, BEN))
    change = lock(table, ANN, locked=True, now=NOON)
    assert change.locked
    assert change.notice == "Ann has locked the table: nobody new can take a seat."
    assert (change.seats[1], change.commitment) == (table.seats[1], table.commitment)
    assert change.seats[0].is_ready
    with pytest.raises(CommandRejected) as refused:
        join(change, CLEO, "Cleo", node=NODE, now=NOON)
    assert refused.value.code == "table_locked"
    back = join(change, BEN, "Ben", node="elsewhere", now=NOON)
    assert back.seats[1].node == "elsewhere"
    unlocked = lock(back, ANN, locked=False, now=NOON)
    assert players(join(unlocked, CLEO, "Cleo", node=NODE, now=NOON)) == [ANN, BEN, CLEO]


def test_a_lock_ends_when_only_bots_are_left() -> None:
    locked = lock(seated(ANN, BEN, CLEO, bots=(CLEO,)), ANN, locked=True, now=NOON)
    host_left = left(locked, ANN)
    assert (host_left.locked, host_left.host) == (True, BEN)
    bot_left = left(host_left, BEN)
    assert (bot_left.locked, bot_left.host) == (False, CLEO)
    again = lock(bot_left, CLEO, locked=True, now=NOON)
    assert again.locked, "a bot may lock its table"
    assert join(again, CLEO, "Cleo", node=NODE, now=NOON).locked


def test_a_racer_who_leaves_the_table_leaves_the_race() -> None:
    table = running(ANN, BEN)
    change = leave(table, BEN, now=after(9_000), fresh_seed=OTHER_SEED)
    assert change.phase is TablePhase.RUNNING
    assert change.left == {BEN: State.LEFT}
    # the fields of the racer that the record will need stay
    assert change.racers == table.racers
    assert change.nonces == table.nonces
    assert change.name(BEN) == "Ben"


@pytest.mark.parametrize("table", [counting(ANN, BEN), running(ANN, BEN)])
def test_a_host_cannot_send_a_rival_away_from_the_race(table: TableState) -> None:
    with pytest.raises(CommandRejected) as refused:
        kick(table, ANN, target=BEN, now=after(200), fresh_seed=OTHER_SEED)
    assert refused.value.code == "wrong_phase"
    assert refused.value.detail == "Ben is in this race. Kick Ben when it is over."


@pytest.mark.parametrize("table", [counting(ANN, BEN), running(ANN, BEN)])
def test_a_player_outside_the_race_can_be_kicked_during_it(table: TableState) -> None:
    table = join(table, CLEO, "Cleo", node=NODE, now=after(200))
    change = kick(table, ANN, target=CLEO, now=after(200), fresh_seed=OTHER_SEED)
    assert change.phase is table.phase


def test_a_racer_who_left_and_sits_again_does_not_leave_the_race_twice() -> None:
    table = left(running(ANN, BEN), BEN)
    table = join(table, BEN, "Ben", node=NODE, now=after(9_000))
    change = leave(table, BEN, now=after(9_500), fresh_seed=OTHER_SEED)
    assert change.left == {BEN: State.LEFT}


def test_a_racer_whose_seat_is_taken_away_is_gone_and_has_not_left() -> None:
    change = force_leave(running(ANN, BEN), BEN, now=after(9_000), fresh_seed=OTHER_SEED)
    assert change.left == {BEN: State.GONE}
    assert force_leave(change, BEN, now=after(9_500), fresh_seed=OTHER_SEED) is change


def test_a_new_name_is_shown_at_the_table_but_not_written_into_the_race() -> None:
    change = rename(running(ANN, BEN), BEN, "Benny")
    assert change.name(BEN) == "Benny"
    assert change.racers[BEN].name == "Ben"
    assert rename(change, BEN, "Benny") is change
    assert rename(change, CLEO, "Cleo") is change


# The host's place between races: passed on from a host who gives no sign to a person who does


@pytest.mark.parametrize("table", [seated(ANN, BEN, CLEO), over(ANN, BEN, CLEO)])
def test_a_silent_hosts_place_passes_to_the_next_person_who_is_there(table: TableState) -> None:
    at = after(IDLE_MILLIS)
    passed = host_passed_on(table, {ANN, BEN}, at)
    assert (passed.host, passed.waited_since) == (CLEO, at)
    assert passed.notice == "Ann has been away for three minutes; Cleo is host now."
    assert [seat.player for seat in passed.seats] == [ANN, BEN, CLEO]
    for away in ({BEN, CLEO}, {ANN, BEN, CLEO}):
        assert host_passed_on(table, away, at) is table
    among_bots = seated(ANN, BEN, bots=(BEN,))
    assert host_passed_on(among_bots, {ANN}, at) is among_bots


def test_nothing_passes_on_in_a_race() -> None:
    for phase in set(TablePhase) - BETWEEN_RACES:
        table = in_phase(phase)
        assert host_passed_on(table, {ANN}, after(IDLE_MILLIS)) is table


@pytest.mark.parametrize("bots", [(), (BEN,)])
def test_the_silence_of_a_host_whom_nobody_awaited_counts_from_the_first_persons_arrival(
    bots: tuple[str, ...],
) -> None:
    table = seated(ANN, *bots, bots=bots)
    joined = join(table, CLEO, "Cleo", node=NODE, now=after(60_000))
    assert (joined.host, joined.waited_since) == (ANN, after(60_000))
