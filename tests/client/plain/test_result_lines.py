"""Lines for standings, results and totals."""

from kit.session_states import (
    START,
    in_match,
    seat,
    snapshot,
    standings,
    state_after,
)
from kit.session_states import table as at_table
from saratoga_client.plain.result_lines import (
    climb_lines,
    standings_lines,
    totals_lines,
)


def test_totals_begin_with_the_most_money() -> None:
    rich = at_table(seats=[seat("y", races=1, net=-45), seat("o", races=2, wins=1, net=10)])
    assert list(totals_lines(state_after(first=snapshot(shown=rich)))) == [
        "total Otto [bot]: 2 races, 1 win, +$10",
        "total Zoë: 1 race, 0 wins, -$45",
    ]


def test_in_a_match_the_totals_are_those_of_the_match() -> None:
    rich = at_table(seats=[seat("y", races=7, wins=4, net=240), seat("a", races=7)])

    def totals_after(*races: str) -> list[str]:
        return list(totals_lines(state_after(first=snapshot(shown=in_match(rich, *races)))))

    assert totals_after() == ["totals: no race of this match is over yet"]
    assert totals_after("a20 y9") == [
        "match: match after race 1 of 3",
        "match 1. ana: +$50, 1 win, race 1 1st +$50",
        "match 2. Zoë: -$5, 0 wins, race 1 2nd -$5",
    ]


def test_standings_name_the_gap_to_the_first_place() -> None:
    assert list(standings_lines(state_after(standings("a9 y1 =r1")))) == [
        "standing 1. ana: 9 banked, -$5, racing",
        "standing 2. Zoë: 1 banked, -$45, racing, $40 behind",
        "standing 2. raj: 1 banked, -$45, racing, $40 behind",
    ]


def test_the_climb_of_everyone_has_counts_at_regular_times_and_now() -> None:
    state = state_after(standings("a6 y2 r1"), standings("a9 y2 r1:stuck"), every=30_000)
    assert list(climb_lines(state, START + 65_000)) == [
        "climb 1. ana: 1 at 0:00, 6 at 0:30, 9 at 1:00, 9 now",
        "climb 2. Zoë: 1 at 0:00, 2 at 0:30, 2 at 1:00, 2 now",
        "climb 3. raj: 1 at 0:00, 1 at 0:30, 1 at 1:00, 1 now",
    ]
    # a long race has fewer counts, not longer lines
    assert next(climb_lines(state, START + 540_000)).count(" at ") == 9
    before = state_after(first=snapshot(shown=at_table(phase="gathering")))
    assert list(climb_lines(before, START)) == ["climb: no race is running"]
