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
)
from saratoga_rules.records.standing import IDLE_MILLIS, State
from saratoga_server.domain.tables import (
    BETWEEN_RACES,
    CommandRejected,
    TablePhase,
    TableState,
    force_leave,
    host_passed_on,
    join,
    kick,
    leave,
    lock,
)
from saratoga_server.domain.tables.seating import MOST_KICKED

# Seats: joining, leaving, the host, and lost connections


def players(table: TableState) -> list[str]:
    return [seat.player for seat in table.seats]


def left(table: TableState, player: str) -> TableState:
    return leave(table, player, now=after(10), fresh_seed=OTHER_SEED)


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


def test_a_racer_whose_seat_is_taken_away_is_gone_and_has_not_left() -> None:
    change = force_leave(running(ANN, BEN), BEN, now=after(9_000), fresh_seed=OTHER_SEED)
    assert change.left == {BEN: State.GONE}
    assert force_leave(change, BEN, now=after(9_500), fresh_seed=OTHER_SEED) is change


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
