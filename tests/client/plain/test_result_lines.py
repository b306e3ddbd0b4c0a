"""Lines for standings, results and totals."""

from kit.session_states import RACE, outcome, seat, snapshot, standings, state_after
from kit.session_states import table as at_table
from saratoga_client.plain.result_lines import result_lines, standings_lines, totals_lines
from saratoga_protocol import events


def test_totals_begin_with_the_most_money() -> None:
    rich = at_table(seats=[seat("y", races=1, net=-45), seat("o", races=2, wins=1, net=10)])
    assert list(totals_lines(state_after(first=snapshot(shown=rich)))) == [
        "total Otto [bot]: 2 races, 1 win, +$10",
        "total Zoë: 1 race, 0 wins, -$45",
    ]


def test_totals_before_the_first_race_say_so() -> None:
    assert list(totals_lines(state_after())) == ["totals: no one at this table has raced yet"]


def test_standings_name_the_gap_to_the_first_place() -> None:
    assert list(standings_lines(state_after(standings("a9 y1 =r1")))) == [
        "standing 1. ana: 9 banked, -$5, racing",
        "standing 2. Zoë: 1 banked, -$45, racing, $40 behind",
        "standing 2. raj: 1 banked, -$45, racing, $40 behind",
    ]


def test_a_result_needs_a_finished_race() -> None:
    assert list(result_lines(state_after())) == [
        "no: No race is over yet. Type standings to see how this one stands."
    ]
    over = state_after(events.RaceOver(outcome=outcome("a9:cashed_out y1:cashed_out")))
    assert list(result_lines(over))[:2] == [
        f"race {RACE}: over, canfield, unranked",
        "result 1. ana: 9 banked, -$5, cashed out",
    ]
