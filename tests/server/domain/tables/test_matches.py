"""A match lasts for its finished races, through changes of people and game."""

import pytest

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
from saratoga_protocol.matches import champions
from saratoga_server.domain.tables import (
    CommandRejected,
    TableOptions,
    TablePhase,
    TableState,
    change_settings,
    elapse,
    finish,
    join,
    leave,
    next_race,
    public_view,
    start,
)
from saratoga_server.domain.tables.matches import RACES
from saratoga_server.domain.tables.next_deal import with_voided
from saratoga_server.domain.tables.voids import ReadableLog, voided_of

THREE = TableOptions(game="canfield", races=3)


def gathered(table: TableState) -> TableState:
    """Return the table that gathers for its next race."""
    return next_race(
        table, table.host, next_id(table, table.host), now=NOON, fresh_seed=OTHER_SEED
    ).table


def begun(table: TableState) -> TableState:
    """Return the gathering table after the start of its race, in which everyone at the table races."""
    table = all_ready(table)
    table = called(start(table, table.host, next_id(table, table.host), now=NOON).table)
    change = elapse(all_shown(table), table.start_at, OTHER_SEED)
    assert change is not None
    return change.table


def finished(table: TableState, nets: dict[str, int] | None = None) -> TableState:
    return finish(table, outcome(table, nets), now=after(90_000)).table


def raced(table: TableState, nets: dict[str, int] | None = None) -> TableState:
    """Return the table after one more race."""
    return finished(begun(gathered(table)), nets)


def reset(table: TableState, races: int) -> TableState:
    return change_settings(
        table, ANN, next_id(table, ANN), races=races, now=NOON, fresh_seed=OTHER_SEED
    ).table


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


def test_without_the_setting_there_is_no_match() -> None:
    assert over(ANN, BEN).match is None


def test_who_leaves_stays_in_the_table_of_the_match_and_who_comes_is_added() -> None:
    table = gathered(over(ANN, BEN, settings=THREE))
    table = leave(table, BEN, next_id(table, BEN), now=NOON, fresh_seed=OTHER_SEED).table
    table = join(table, CLEO, "Cleo", 1, bot=False, node=NODE, now=NOON).table
    table = finished(begun(table), {ANN: 5, CLEO: 20})
    match = public_view(table, 3).match
    assert match is not None
    assert {row.name: (row.net, len(row.results)) for row in match.rows} == {
        "Ann": (5, 2),
        "Ben": (-10, 1),
        "Cleo": (20, 1),
    }


def test_a_voided_race_does_not_count() -> None:
    table = begun(gathered(over(ANN, BEN, settings=THREE)))
    voided = voided_of(table, {player: ReadableLog((), False) for player in table.racers})
    table = with_voided(table, voided.voided, OTHER_SEED)
    assert (table.phase, table.race, numbers(table)) == (TablePhase.GATHERING, 3, [1])
    assert numbers(finished(begun(table))) == [1, 3]


def test_a_voided_first_race_begins_no_match() -> None:
    table = running(ANN, BEN, settings=THREE)
    voided = voided_of(table, {player: ReadableLog((), False) for player in table.racers})
    table = with_voided(table, voided.voided, OTHER_SEED)
    assert numbers(finished(begun(reset(table, 5)))) == [2]


def test_another_game_goes_on_with_the_match() -> None:
    table = gathered(over(ANN, BEN, settings=THREE))
    table = change_settings(
        table, ANN, next_id(table, ANN), game="caprice", now=NOON, fresh_seed=OTHER_SEED
    ).table
    assert numbers(finished(begun(table))) == [1, 2]


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


@pytest.mark.parametrize("races", RACES)
def test_the_host_sets_the_number_of_races(races: int) -> None:
    table = reset(seated(ANN, settings=TableOptions(game="canfield", races=5)), races)
    assert public_view(table, 1).settings.races == races


@pytest.mark.parametrize("races", [0, 2, 4, 6])
def test_a_match_has_three_or_five_races(races: int) -> None:
    with pytest.raises(CommandRejected, match="3 or 5 races"):
        reset(seated(ANN), races)
