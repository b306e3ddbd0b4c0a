"""Settings, results, totals, and the next race."""

from collections.abc import Iterable
from typing import TypedDict

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
    all_ready,
    all_shown,
    called,
    next_id,
    outcome,
    over,
    running,
    seated,
)
from saratoga_rules.records.standing import LAST_BOARD_MILLIS
from saratoga_rules.records.voided import MOST_VOIDED
from saratoga_server.domain.tables import (
    CommandRejected,
    RaceEndedByHost,
    TableOptions,
    TablePhase,
    TableState,
    change_settings,
    elapse,
    end_race,
    finish,
    join,
    last_board,
    leave,
    next_race,
    start,
)
from saratoga_server.domain.tables.lifecycle import AHEAD_MILLIS, CAPS, never_raced
from saratoga_server.domain.tables.next_deal import with_voided
from saratoga_server.domain.tables.voids import ReadableLog, VoidedResult, voided_of
from saratoga_server.ports import Millis


class Chosen(TypedDict, total=False):
    game: str
    cap: int
    seats: int
    public: bool
    races: int


def changed(table: TableState, chosen: Chosen) -> TableState:
    return change_settings(table, ANN, 9, **chosen, now=after(5), fresh_seed=OTHER_SEED).table


@pytest.mark.parametrize(
    "chosen", [Chosen(game="caprice"), Chosen(cap=0), Chosen(seats=2), Chosen(public=True)]
)
def test_a_change_of_settings_clears_ready_marks_and_makes_a_new_commitment(
    chosen: Chosen,
) -> None:
    table = all_ready(seated(ANN, BEN))
    after_it = changed(table, chosen)
    assert after_it.settings == TableOptions(**({"game": "canfield"} | chosen))
    assert not any(seat.is_ready for seat in after_it.seats)
    assert after_it.commitment != table.commitment
    assert after_it.seed == OTHER_SEED.hex()
    assert after_it.touched == after(5)
    assert after_it.notice == "Ann has changed the settings. Get ready again."


def test_settings_that_are_what_they_were_change_nothing_but_the_id() -> None:
    table = all_ready(seated(ANN, BEN))
    after_it = changed(table, Chosen(game="canfield", cap=10))
    assert after_it.commitment == table.commitment
    assert all(seat.is_ready for seat in after_it.seats)
    assert after_it.seats[0].last_id == 9


@pytest.mark.parametrize("cap", CAPS)
def test_every_cap_is_allowed_at_a_public_table(cap: int) -> None:
    assert changed(seated(ANN), Chosen(cap=cap, public=True)).settings.cap == cap


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        (Chosen(game="faro"), "no_such_game"),
        (Chosen(cap=7), "bad_settings"),
        (Chosen(cap=0, public=True), "bad_settings"),
        (Chosen(seats=1), "bad_settings"),
        (Chosen(seats=17), "bad_settings"),
        (Chosen(seats=0), "bad_settings"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(chosen: Chosen, code: str) -> None:
    with pytest.raises(CommandRejected) as refused:
        changed(seated(ANN, BEN), chosen)
    assert refused.value.code == code


def test_a_table_without_a_cap_cannot_be_made_public() -> None:
    table = changed(seated(ANN), Chosen(cap=0))
    with pytest.raises(CommandRejected) as refused:
        change_settings(table, ANN, 10, public=True, now=NOON, fresh_seed=OTHER_SEED)
    assert "time limit" in refused.value.detail


def test_a_finished_race_is_counted_at_the_seats() -> None:
    table = running(ANN, BEN)
    table = join(table, CLEO, "Cleo", 1, node=NODE, now=after(9_000)).table
    result = outcome(table, {ANN: 40, BEN: -25})
    table = finish(table, result, now=after(60_000)).table
    assert (table.phase, table.outcome) == (TablePhase.OVER, result)
    assert [(seat.races, seat.wins, seat.net) for seat in table.seats] == [
        (1, 1, 40),
        (1, 0, -25),
        (0, 0, 0),
    ]


def test_the_host_may_end_the_last_racing_board_after_a_minute() -> None:
    table = join(running(ANN, BEN), CLEO, "Cleo", 1, node=NODE, now=after(9_000)).table
    ended = after(20_000)
    change = last_board(table, BEN, ended)
    assert change is not None
    table = change.table
    assert (table.last_racer, table.end_from - ended) == (BEN, LAST_BOARD_MILLIS + AHEAD_MILLIS)
    assert last_board(table, CLEO, after(30_000)) is None
    just_before = Millis(table.end_from - 1)
    with pytest.raises(CommandRejected, match="in 1 s") as early:
        end_race(table, ANN, 9, race_id=table.race_id, now=just_before)
    assert (early.value.code, early.value.wait) == ("too_early", 0.001)
    done = end_race(table, ANN, 9, race_id=table.race_id, now=table.end_from)
    assert done.effects == (RaceEndedByHost(BEN),)
    assert done.table.is_ended_by_host
    over = finish(done.table, outcome(table, {ANN: 40, BEN: -25}), now=after(90_000)).table
    assert (over.last_racer, over.end_from) == ("", 0)


def test_a_host_whose_own_board_is_the_last_is_told_to_cash_out() -> None:
    change = last_board(running(ANN, BEN), ANN, after(20_000))
    assert change is not None
    table = change.table
    with pytest.raises(CommandRejected) as early:
        end_race(table, ANN, 9, race_id=table.race_id, now=after(21_000))
    assert early.value.detail == "Only you are still racing: cash out to end the race."


def ended_without(
    table: TableState, *away: str, bots: Iterable[str] = (), absent: Iterable[str] = ()
) -> TableState:
    """Return the table after its race, in which the racers `away` gave no sign for too long."""
    seats = tuple(
        replace(seat, bot=seat.player in bots, node="" if seat.player in absent else NODE)
        for seat in table.seats
    )
    table = replace(table, seats=seats)
    return finish(table, outcome(table), now=after(400_000), away=away).table


def test_a_host_who_was_away_at_the_end_of_the_race_passes_the_table_to_the_next_person() -> None:
    table = ended_without(running(ANN, BEN, CLEO), ANN)
    assert table.host == BEN
    assert table.notice == "Ann has been away for three minutes; Ben is host now."
    assert [seat.player for seat in table.seats] == [ANN, BEN, CLEO]
    table = running(ANN, BEN, CLEO)
    assert ended_without(table, ANN, BEN).host == CLEO
    assert ended_without(table, ANN, bots=[BEN]).host == CLEO
    assert ended_without(table, ANN, absent=[BEN]).host == CLEO
    assert ended_without(replace(table, host=BEN), BEN, absent=[CLEO]).host == ANN


def test_a_host_keeps_the_table_if_present_or_if_nobody_else_is() -> None:
    table = running(ANN, BEN)
    assert ended_without(table, BEN).host == ANN
    assert ended_without(table, ANN, BEN).host == ANN
    assert ended_without(table, ANN, bots=[BEN]).host == ANN
    assert ended_without(table, ANN, absent=[BEN]).host == ANN


@pytest.mark.parametrize(
    ("player", "race", "code"),
    [(BEN, 1, "host_only"), (ANN, 2, "no_such_race"), (ANN, 1, "too_early")],
)
def test_a_race_is_ended_only_by_its_host_and_not_while_several_race(
    player: str, race: int, code: str
) -> None:
    table = running(ANN, BEN)
    with pytest.raises(CommandRejected) as refused:
        end_race(table, player, 9, race_id=f"{table.code}/{race}", now=after(120_000))
    assert (refused.value.code, refused.value.wait) == (code, 0)


def test_first_places_that_are_shared_are_wins_for_all_who_share() -> None:
    table = running(ANN, BEN)
    table = finish(table, outcome(table, {ANN: 5, BEN: 5}), now=after(60_000)).table
    assert [seat.wins for seat in table.seats] == [1, 1]


def test_a_player_who_left_keeps_no_seat_and_no_totals() -> None:
    table = leave(running(ANN, BEN), BEN, 9, now=after(9_000), fresh_seed=OTHER_SEED).table
    table = finish(table, outcome(table), now=after(60_000)).table
    assert [(seat.player, seat.races) for seat in table.seats] == [(ANN, 1)]


def test_the_next_race_gathers_for_another_deal_and_keeps_the_totals() -> None:
    table = over(ANN, BEN)
    after_it = next_race(table, ANN, 9, now=after(90_000), fresh_seed=OTHER_SEED).table
    assert (after_it.phase, after_it.race) == (TablePhase.GATHERING, 2)
    assert after_it.race_id == "mint-otter-42/2"
    assert after_it.commitment != table.commitment
    assert not any(seat.is_ready for seat in after_it.seats)
    assert (after_it.racers, after_it.racer_names) == ((), {})
    assert (after_it.nonces, after_it.deal_key) == ({}, "")
    assert (after_it.outcome, after_it.left, after_it.start_at) == (None, (), 0)
    assert [(seat.races, seat.wins, seat.net) for seat in after_it.seats] == [
        (1, 1, 0),
        (1, 0, -10),
    ]


def voided(table: TableState) -> VoidedResult:
    return voided_of(table, {player: ReadableLog((), False) for player in table.racers})


def test_a_table_lists_the_newest_voided_races_until_the_next_race_after_a_record() -> None:
    table = over(ANN, BEN)
    known = tuple(voided(replace(table, race=race)).voided for race in range(1, MOST_VOIDED + 1))
    table = replace(running(ANN, BEN), race=MOST_VOIDED + 1, voided=known)
    gathering = with_voided(table, voided(table).voided, OTHER_SEED)
    assert gathering.voided == (*known[1:], voided(table).voided)
    table = replace(over(ANN, BEN), voided=known)
    assert next_race(table, ANN, 9, now=NOON, fresh_seed=OTHER_SEED).table.voided == ()


def test_totals_add_up_over_the_races_of_a_table() -> None:
    table = over(ANN, BEN)
    for number in range(2, 5):
        table = next_race(table, ANN, 10 * number, now=NOON, fresh_seed=OTHER_SEED).table
        table = finish_race(table)
        assert [seat.races for seat in table.seats] == [number, number]
        assert table.seats[1].net == -10 * number


def finish_race(table: TableState) -> TableState:
    table = all_ready(table)
    table = called(start(table, ANN, next_id(table, ANN), now=NOON).table)
    change = elapse(all_shown(table), after(5_000), OTHER_SEED)
    assert change is not None
    return finish(change.table, outcome(change.table), now=after(9_000)).table


def test_a_player_who_left_the_last_race_has_not_left_the_next() -> None:
    table = leave(running(ANN, BEN), BEN, 9, now=after(9_000), fresh_seed=OTHER_SEED).table
    table = finish(table, outcome(table), now=after(60_000)).table
    assert table.left == (BEN,)
    assert next_race(table, ANN, 9, now=after(90_000), fresh_seed=OTHER_SEED).table.left == ()


def test_the_second_race_of_a_table_is_not_the_first() -> None:
    again = next_race(over(ANN), ANN, 9, now=after(90_000), fresh_seed=OTHER_SEED).table
    assert not never_raced(again)
