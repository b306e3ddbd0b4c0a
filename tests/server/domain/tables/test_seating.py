"""Seats: joining, leaving, the host, and lost connections."""

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
    SEED,
    after,
    all_ready,
    counting,
    over,
    running,
    seated,
)
from saratoga_server.domain.tables import (
    CommandRejected,
    RacerLeft,
    SeatVacated,
    TableOptions,
    TablePhase,
    TableState,
    disconnect,
    is_repeat,
    join,
    kick,
    leave,
    lock,
    new_table,
    rename,
    resume,
)
from saratoga_server.domain.tables.seating import MOST_KICKED


def players(table: TableState) -> list[str]:
    return [seat.player for seat in table.seats]


def left(table: TableState, player: str) -> TableState:
    return leave(table, player, 50, now=after(10), fresh_seed=OTHER_SEED).table


def test_the_player_who_creates_a_table_is_its_host() -> None:
    table = seated(ANN)
    assert (table.host, players(table), table.phase) == (ANN, [ANN], TablePhase.GATHERING)
    assert is_repeat(table, ANN, 1)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        (TableOptions(game="faro"), "no_such_game"),
        (TableOptions(game="canfield", cap=4), "bad_settings"),
        (TableOptions(game="canfield", cap=0, public=True), "bad_settings"),
        (TableOptions(game="canfield", seats=0), "bad_settings"),
        (TableOptions(game="canfield", seats=17), "bad_settings"),
    ],
)
def test_a_table_is_not_opened_with_settings_that_do_not_go_together(
    settings: TableOptions, code: str
) -> None:
    with pytest.raises(CommandRejected) as refused:
        new_table("mint-otter-42", settings, ANN, "Ann", 1, node=NODE, now=NOON, fresh_seed=SEED)
    assert refused.value.code == code


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


def test_to_join_where_one_sits_is_to_come_back() -> None:
    table = seated(ANN, BEN)
    assert join(table, BEN, "Ben", 1, node="node-2", now=NOON) == resume(
        table, BEN, node="node-2", now=NOON
    )


def test_epochs_only_grow_and_none_is_given_twice() -> None:
    table = seated(ANN, BEN)
    table = resume(table, ANN, node=NODE, now=NOON).table
    table = join(left(table, BEN), BEN, "Ben", 51, node=NODE, now=NOON).table
    assert [seat.epoch for seat in table.seats] == [3, 4]


def test_coming_back_keeps_the_id_so_that_unanswered_commands_may_follow() -> None:
    table = resume(seated(ANN), ANN, node=NODE, now=NOON).table
    assert not is_repeat(table, ANN, 2)


def test_a_lost_connection_leaves_the_seat_where_it_is() -> None:
    change = disconnect(seated(ANN, BEN), BEN, 2, now=after(10))
    assert change is not None
    seat = change.table.seat(BEN)
    assert seat is not None
    assert (seat.is_connected, seat.absent_since) == (False, after(10))
    back = resume(change.table, BEN, node="node-2", now=after(20)).table.seat(BEN)
    assert back is not None
    assert (back.node, back.absent_since, back.epoch) == ("node-2", 0, 3)


def test_the_end_of_a_connection_that_was_taken_over_means_nothing() -> None:
    table = resume(seated(ANN, BEN), BEN, node="node-2", now=NOON).table
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


def test_a_bot_is_host_only_where_no_person_is_left() -> None:
    table = left(seated(ANN, BEN, CLEO, bots=(BEN,)), ANN)
    assert table.host == CLEO
    assert left(table, CLEO).host == BEN


def test_an_empty_table_has_no_host_until_a_player_joins() -> None:
    table = left(seated(ANN), ANN)
    assert (table.host, table.seats) == ("", ())
    table = join(table, BEN, "Ben", 1, node=NODE, now=NOON).table
    assert table.host == BEN


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


def test_a_lock_ends_when_the_last_player_leaves() -> None:
    locked = lock(seated(ANN, BEN), ANN, 9, locked=True, now=NOON).table
    host_left = left(locked, ANN)
    assert (host_left.locked, left(host_left, BEN).locked) == (True, False)


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
    assert change.effects == (RacerLeft(BEN),)
    assert change.table.phase is TablePhase.RUNNING
    assert change.table.left == (BEN,)
    # the fields of the racer that the record will need stay
    assert change.table.racers == table.racers
    assert change.table.nonces == table.nonces
    assert change.table.racer_names[BEN] == "Ben"
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


def test_a_player_who_left_the_race_and_joined_again_can_be_kicked() -> None:
    table = left(running(ANN, BEN), BEN)
    table = join(table, BEN, "Ben", 51, node=NODE, now=after(9_000)).table
    change = kick(table, ANN, 51, target=BEN, now=after(9_500), fresh_seed=OTHER_SEED)
    assert change.effects == (SeatVacated(BEN, "The host has kicked you from the table."),)


def test_after_the_race_a_rival_can_be_kicked() -> None:
    change = kick(over(ANN, BEN), ANN, 50, target=BEN, now=after(90_000), fresh_seed=OTHER_SEED)
    assert change.effects == (SeatVacated(BEN, "The host has kicked you from the table."),)


def test_a_racer_who_left_and_sits_again_does_not_leave_the_race_twice() -> None:
    table = left(running(ANN, BEN), BEN)
    table = join(table, BEN, "Ben", 51, node=NODE, now=after(9_000)).table
    change = leave(table, BEN, 52, now=after(9_500), fresh_seed=OTHER_SEED)
    assert change.effects == ()
    assert change.table.left == (BEN,)


def test_a_player_who_leaves_after_the_race_gives_up_only_the_seat() -> None:
    table = over(ANN, BEN)
    change = leave(table, BEN, 50, now=after(90_000), fresh_seed=OTHER_SEED)
    assert change.effects == ()
    assert change.table.outcome == table.outcome


def test_a_new_name_is_shown_at_the_table_but_not_written_into_the_race() -> None:
    change = rename(running(ANN, BEN), BEN, "Benny")
    assert change is not None
    assert change.table.name(BEN) == "Benny"
    assert change.table.racer_names[BEN] == "Ben"
    assert rename(change.table, BEN, "Benny") is None
    assert rename(change.table, CLEO, "Cleo") is None
