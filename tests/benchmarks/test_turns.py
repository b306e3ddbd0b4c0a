"""Tests of measurements in turns: the turns that count, and the report if too few were quiet."""

import math

from benchmarks.measuring import Load
from benchmarks.reports import Report
from benchmarks.turns import Turns


def turn(one: float, other: float, *, stolen: float = 0.0) -> dict[str, Load]:
    return {
        "one": Load(messages=10, seconds=1.0, server=one),
        "other": Load(messages=10, seconds=1.0, server=other, stolen=stolen),
    }


def test_only_quiet_turns_count() -> None:
    turns = Turns(planned=4, taken=[turn(2, 1), turn(2, 1), turn(9, 1, stolen=0.5)])
    assert turns.is_quiet
    assert turns.ratio("one", "other") == 2.0


def test_if_too_few_were_quiet_all_count_and_the_report_says_so() -> None:
    turns = Turns(planned=4, taken=[turn(1, 1), turn(9, 1, stolen=0.5)])
    assert not turns.is_quiet
    assert turns.ratio("one", "other") == 5.0
    report = Report("a part")
    turns.tell(report, "other")
    assert "**Not measured quietly**: 1 turns were undisturbed." in report.text()
    assert "2 of 4 turns" in report.text()


def test_without_any_turn_there_is_no_figure() -> None:
    turns, report = Turns(planned=4), Report("a part")
    assert math.isnan(turns.ratio("one", "other"))
    turns.tell(report, "other")
    assert "0 of 4 turns" in report.text()
