"""Settings, results, totals, the next race, and matches of several races."""

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
    counting,
    outcome,
    over,
    running,
    seated,
    table_settings,
)
from saratoga_protocol.events import Ended
from saratoga_protocol.matches import champions, totals
from saratoga_rules.records.record import digest_of, parse_record
from saratoga_server.domain.tables import (
    CommandRejected,
    RankedTables,
    TablePhase,
    TableState,
    change_settings,
    elapse,
    end_race,
    finish,
    join,
    last_board,
    leave,
    lock,
    next_race,
    start,
)
from saratoga_server.domain.tables.countdown import with_ranked
from saratoga_server.domain.tables.records import voided_countdown

# Settings, results, totals, and the next race


class Chosen(TypedDict, total=False):
    game: str
    cap: int
    seats: int
    public: bool
    races: int


def changed(table: TableState, chosen: Chosen) -> TableState:
    return change_settings(table, ANN, **chosen, now=after(5), fresh_seed=OTHER_SEED)


@pytest.mark.parametrize(
    "chosen", [Chosen(game="caprice"), Chosen(cap=0), Chosen(seats=2), Chosen(public=True)]
)
def test_a_change_of_settings_clears_ready_marks_and_makes_a_new_commitment(
    chosen: Chosen,
) -> None:
    table = all_ready(seated(ANN, BEN))
    after_it = changed(table, chosen)
    assert after_it.settings == table_settings(**({"game": "canfield"} | chosen))
    assert not any(seat.is_ready for seat in after_it.seats)
    assert after_it.commitment != table.commitment
    assert after_it.seed == OTHER_SEED.hex()
    assert after_it.touched == after(5)
    assert after_it.notice == "Ann has changed the settings. Get ready again."


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


def test_a_host_whose_own_board_is_the_last_is_told_to_cash_out() -> None:
    change = last_board(running(ANN, BEN), ANN, after(20_000))
    table = change
    with pytest.raises(CommandRejected) as early:
        end_race(table, ANN, race_id=table.race_id, now=after(21_000))
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
    return finish(table, outcome(table), now=after(400_000), away=away)


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


@pytest.mark.parametrize(
    ("player", "race", "code"),
    [(BEN, 1, "host_only"), (ANN, 2, "no_such_race"), (ANN, 1, "too_early")],
)
def test_a_race_is_ended_only_by_its_host_and_not_while_several_race(
    player: str, race: int, code: str
) -> None:
    table = running(ANN, BEN)
    with pytest.raises(CommandRejected) as refused:
        end_race(table, player, race_id=f"{table.code}/{race}", now=after(120_000))
    assert (refused.value.code, refused.value.wait) == (code, 0)


def test_first_places_that_are_shared_are_wins_for_all_who_share() -> None:
    table = running(ANN, BEN)
    table = finish(table, outcome(table, {ANN: 5, BEN: 5}), now=after(60_000))
    assert [seat.wins for seat in table.seats] == [1, 1]


def test_the_next_race_gathers_for_another_deal_and_keeps_the_totals() -> None:
    table = over(ANN, BEN)
    after_it = next_race(table, ANN, now=after(90_000), fresh_seed=OTHER_SEED)
    assert (after_it.phase, after_it.race) == (TablePhase.GATHERING, 2)
    assert after_it.race_id == "mint-otter-42/2"
    assert after_it.commitment != table.commitment
    assert not any(seat.is_ready for seat in after_it.seats)
    assert (after_it.racers, after_it.nonces, after_it.deal_key) == ({}, {}, "")
    assert (after_it.outcome, after_it.left, after_it.start_at) == (None, {}, 0)
    assert [(seat.races, seat.wins, seat.net) for seat in after_it.seats] == [
        (1, 1, 0),
        (1, 0, -10),
    ]


def test_a_table_names_its_last_race_and_every_record_the_one_before() -> None:
    table = over(ANN, BEN)
    assert table.previous == Ended(race=table.race_id, digest=outcome(running(ANN, BEN)).digest)
    gathering = next_race(table, ANN, now=NOON, fresh_seed=OTHER_SEED)
    assert gathering.previous is not None
    assert gathering.previous == table.previous
    race = voided_countdown(gathering, "server-away")
    record = parse_record(race.finish.record)
    assert record.previous == (table.race_id, gathering.previous.digest)
    assert race.ended.digest == digest_of(race.finish.record)


# A match lasts for its finished races, through changes of people and game


THREE = table_settings(game="canfield", races=3)


def gathered(table: TableState) -> TableState:
    """Return the table that gathers for its next race."""
    return next_race(table, table.host, now=NOON, fresh_seed=OTHER_SEED)


def begun(table: TableState) -> TableState:
    """Return the gathering table after the start of its race, in which everyone at the table races."""
    table = all_ready(table)
    table = called(start(table, table.host, now=NOON))
    return elapse(all_shown(table), table.start_at, OTHER_SEED)


def finished(table: TableState, nets: dict[str, int] | None = None) -> TableState:
    return finish(table, outcome(table, nets), now=after(90_000))


def raced(table: TableState, nets: dict[str, int] | None = None) -> TableState:
    """Return the table after one more race."""
    return finished(begun(gathered(table)), nets)


def reset(table: TableState, races: int) -> TableState:
    return change_settings(table, ANN, races=races, now=NOON, fresh_seed=OTHER_SEED)


def numbers(table: TableState) -> list[int]:
    """Return the numbers of the match's finished races; empty without a match."""
    return [] if table.match is None else [int(r.rpartition("/")[2]) for r in table.match.finished]


def test_three_races_make_a_match_and_the_next_race_begins_another() -> None:
    table = over(ANN, BEN, settings=THREE)
    assert numbers(table) == [1]
    table = raced(table)
    assert numbers(gathered(table)) == [1, 2]
    table = raced(table)
    assert table.match is not None
    assert [row.player for row in champions(table.match)] == [ANN]
    assert numbers(gathered(table)) == []
    table = raced(table)
    assert (numbers(table), table.settings.races) == ([4], 3)


def test_who_leaves_stays_in_the_table_of_the_match_and_who_comes_is_added() -> None:
    table = gathered(over(ANN, BEN, settings=THREE))
    table = leave(table, BEN, now=NOON, fresh_seed=OTHER_SEED)
    table = join(table, CLEO, "Cleo", bot=False, node=NODE, now=NOON)
    table = finished(begun(table), {ANN: 5, CLEO: 20})
    assert table.match is not None
    assert {each.row.name: (each.net, len(each.row.results)) for each in totals(table.match)} == {
        "Ann": (5, 2),
        "Ben": (-10, 1),
        "Cleo": (20, 1),
    }


def test_the_length_of_a_match_that_has_begun_stays() -> None:
    table = gathered(over(ANN, BEN, settings=THREE))
    with pytest.raises(CommandRejected, match="its length stays") as refused:
        reset(table, 5)
    assert refused.value.code == "bad_settings"


def test_the_host_can_end_a_match_before_its_end_without_a_champion() -> None:
    table = reset(gathered(over(ANN, BEN, settings=THREE)), 1)
    assert (table.match, table.settings.races) == (None, 1)
    assert "ended the match" in table.notice
    assert numbers(finished(begun(reset(table, 3)))) == [2]


@pytest.mark.parametrize("races", [0, 2, 4, 6])
def test_a_match_has_three_or_five_races(races: int) -> None:
    with pytest.raises(CommandRejected, match="3 or 5 races"):
        reset(seated(ANN), races)


# Whether a starting race counts, for people and for bots


@pytest.mark.parametrize(
    ("bots", "cap", "public", "ranked", "ranked_bots"),
    [
        ((), 10, True, True, True),
        ((CLEO,), 10, True, True, True),
        ((BEN, CLEO), 10, True, False, True),
        ((), 10, False, False, False),
        ((), 0, False, False, False),
    ],
    ids=["people", "two people and a bot", "one person", "private", "no time limit"],
)
def test_what_a_race_counts_for_where_only_public_tables_do(
    bots: tuple[str, ...], cap: int, public: bool, ranked: bool, ranked_bots: bool
) -> None:
    settings = table_settings(game="canfield", cap=cap, public=public)
    table = counting(ANN, BEN, CLEO, settings=settings, bots=bots)
    started = with_ranked(table, RankedTables.PUBLIC)
    assert (started.ranked, started.ranked_bots) == (ranked, ranked_bots)
    private_counts = with_ranked(table, RankedTables.ALL)
    assert private_counts.ranked is (ranked or (not public and cap > 0))


def test_a_locked_table_counts_as_little_as_a_private_one() -> None:
    settings = table_settings(game="canfield", public=True)
    locked = lock(seated(ANN, BEN, settings=settings), ANN, locked=True, now=NOON)
    calling = start(all_ready(locked), ANN, now=NOON)
    started = with_ranked(all_shown(called(calling)), RankedTables.PUBLIC)
    assert (started.ranked, started.ranked_bots) == (False, False)
    assert with_ranked(started, RankedTables.ALL).ranked
