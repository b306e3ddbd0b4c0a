"""Tests of the suite: if a part fails, the others are reported, and the exit code shows the failure."""

import math
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from benchmarks import suite
from benchmarks.machine import Others
from benchmarks.measuring import NotQuiet
from benchmarks.reports import Bar, Report, markdown

Part = Callable[..., Awaitable[None]]


def part(figure: float) -> Part:
    async def found(report: Report, *, quick: bool) -> None:
        report.say("it ran quickly" if quick else "it ran")
        report.bar(Bar("a bar", figure, 2.0, " x"))

    return found


async def noisy(report: Report, *, quick: bool) -> None:
    raise NotQuiet("the waiting tables ran out")


async def broken(report: Report, *, quick: bool) -> None:
    report.say("as far as this")
    raise RuntimeError("the store went away")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the page that the suite writes, on a machine that counts as quiet."""
    monkeypatch.setattr(Others, "share", lambda others: 0.0)
    monkeypatch.setattr(suite, "RESULTS", tmp_path / "RESULTS.md")
    return suite.RESULTS


def parts(monkeypatch: pytest.MonkeyPatch, **named: Part) -> None:
    parts = {name: (f"Part {name}", each) for name, each in named.items()}
    monkeypatch.setattr(suite, "PARTS", parts)


def test_a_suite_that_meets_its_bars_ends_well(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts(monkeypatch, one=part(1.0), other=part(2.0))
    assert suite.main(["one", "other"], quick=False, written=True) == 0
    text = results.read_text()
    assert "## Part one" in text
    assert "## Part other" in text
    assert "| a bar | 2.00 x |     2 x |     met |" in text


def test_a_missed_bar_has_its_own_exit_code(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts(monkeypatch, one=part(2.5))
    assert suite.main(["one"], quick=True, written=True) == suite.MISSED
    assert "MISSED" in results.read_text()
    assert "it ran quickly" in results.read_text()


def test_a_part_that_fails_says_so_and_stops_no_other(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts(monkeypatch, one=broken, other=part(1.0))
    assert suite.main(["one", "other"], quick=False, written=True) == suite.FAILED
    text = results.read_text()
    assert "as far as this" in text
    assert "**Failed**: RuntimeError: the store went away" in text
    assert "it ran" in text


def test_what_a_busy_machine_makes_unmeasurable_is_no_failure(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts(monkeypatch, one=noisy)
    assert suite.main(["one"], quick=True, written=True) == 0
    assert "**Not measured quietly**: the waiting tables ran out" in results.read_text()
    monkeypatch.setattr(Others, "share", lambda others: 0.5)
    parts(monkeypatch, one=broken, other=part(9.0))
    assert suite.main(["one", "other"], quick=True, written=True) == 0
    text = results.read_text()
    assert "**Not measured quietly**: RuntimeError: the store went away" in text
    assert "| a bar | 9.00 x |     2 x | not measured quietly |" in text
    assert "**disturbed**" in text


@pytest.mark.parametrize(
    ("bar", "verdict", "is_missed"),
    [
        (Bar("a", 2.0, 2.0), "met", False),
        (Bar("a", 2.1, 2.0), "MISSED", True),
        (Bar("a", 2.1, 2.0, is_quiet=False), "not measured quietly", False),
        (Bar("a", 1.9, 2.0, is_quiet=False), "not measured quietly", False),
        (Bar("a", 2.1, 2.0, is_quiet=False, needs_quiet=False), "MISSED", True),
        (Bar("a", math.nan, 2.0), "not measured quietly", False),
    ],
)
def test_a_bar_is_judged_only_if_it_was_measured(bar: Bar, verdict: str, is_missed: bool) -> None:
    assert bar.cells()[-1] == verdict
    assert bar.is_missed is is_missed


def test_one_part_alone_leaves_the_results_as_they_are(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts(monkeypatch, one=part(1.0))
    assert suite.main(["one"], quick=False, written=False) == 0
    assert not results.exists()


def test_figures_are_shown_as_exactly_as_they_mean_something() -> None:
    assert markdown(("what", "us", "n"), [["a", 1.2345, 12345], ["bb", 123.4, 7]]) == [
        "| what |   us |      n |",
        "| ---- | ---: | -----: |",
        "| a    | 1.23 | 12 345 |",
        "| bb   |  123 |      7 |",
    ]
