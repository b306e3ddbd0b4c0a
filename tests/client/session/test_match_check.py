"""A server whose table of a match contradicts the results that it announced."""

import pytest
from msgspec.structs import replace

from kit.session_states import CODE, match, outcome
from saratoga_client.session.match_check import (
    LEAST_GAP,
    MOST_SEEN,
    OTHER_RESULT,
    WRONG_TOTALS,
    SeenResults,
)
from saratoga_protocol.match_rows import Match

RACES = ("a9 y5", "a9 y7", "y9 a5")


def seen(*races: str, first: int = 1) -> SeenResults:
    """Return the results of these races, the first of which has that number."""
    results = SeenResults()
    for number, text in enumerate(races, first):
        results.see(replace(outcome(text), race=f"{CODE}/{number}"))
    return results


def faults(results: SeenResults, table: Match) -> list[str]:
    return list(results.faults(table))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_table_that_follows_from_the_results_is_right(count: int) -> None:
    assert faults(seen(*RACES), match(*RACES[:count])) == []


def test_races_that_were_not_seen_are_no_fault() -> None:
    assert faults(seen(*RACES[1:2], first=2), match(*RACES)) == []
    assert faults(SeenResults(), match(*RACES)) == []


def test_of_two_results_of_one_race_the_first_counts() -> None:
    results = seen(RACES[0])
    results.see(replace(outcome("y9 a5"), race=f"{CODE}/1"))
    assert faults(results, match(*RACES)) == []


def test_a_player_who_is_left_out_or_added_is_a_fault() -> None:
    for text in ("a9", "a9 y5 r4"):
        told = match(text, *RACES[1:])
        assert OTHER_RESULT.format(race=f"{CODE}/1") in faults(seen(*RACES), told)


@pytest.mark.parametrize("field", ["net", "wins", "place"])
def test_totals_that_do_not_follow_from_the_results_are_a_fault(field: str) -> None:
    told = match(*RACES)
    first = replace(told.rows[0], **{field: 4})
    assert faults(SeenResults(), replace(told, rows=[first, *told.rows[1:]])) == [WRONG_TOTALS]


def test_rows_in_another_order_or_without_results_are_a_fault() -> None:
    told = match(*RACES)
    assert faults(SeenResults(), replace(told, rows=told.rows[::-1])) == [WRONG_TOTALS]
    empty = replace(told.rows[0], results=[])
    assert faults(SeenResults(), replace(told, rows=[empty])) == [WRONG_TOTALS]
    assert faults(SeenResults(), replace(told, finished=told.finished[:1])) == [WRONG_TOTALS]


def without_race_2(last: int) -> Match:
    """Return a match that knows the first race and one with that number."""
    told = match(RACES[0], RACES[2])
    race = f"{CODE}/{last}"
    rows = [
        replace(row, results=[row.results[0], replace(row.results[1], race=race)])
        for row in told.rows
    ]
    return replace(told, finished=[told.finished[0], race], rows=rows)


def test_a_race_that_a_restore_has_lost_is_no_fault_of_the_match() -> None:
    assert faults(seen(*RACES[:2]), without_race_2(1 + LEAST_GAP)) == []


def test_races_before_and_after_the_match_are_no_fault() -> None:
    later = match(*RACES[:1])
    results = seen(*RACES)
    assert faults(results, later) == [], "results of the next races may come first"


def test_only_the_last_results_are_kept() -> None:
    results = seen(*["a9 y5"] * MOST_SEEN, first=2)
    results.see(replace(outcome("a9 y5"), race=f"{CODE}/99"))
    told = match("a9 y5", "y9 a5")
    assert faults(results, told) == []


def test_a_race_that_runs_again_may_end_otherwise() -> None:
    results = seen(*RACES)
    results.forget(f"{CODE}/2")
    assert faults(results, match("a9 y5", "y9 a7", "y9 a5")) == []
