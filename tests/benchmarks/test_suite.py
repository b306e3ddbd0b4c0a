"""The suite itself: whatever becomes of a part, the others are told of, and the exit code says so."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from benchmarks import suite
from benchmarks.reports import Bar, Report, markdown

Part = Callable[..., Awaitable[None]]


def part(figure: float) -> Part:
    async def found(report: Report, *, quick: bool) -> None:
        report.say("it ran quickly" if quick else "it ran")
        report.bar(Bar("a bar", figure, 2.0, " x"))

    return found


async def broken(report: Report, *, quick: bool) -> None:
    report.say("as far as this")
    raise RuntimeError("the store went away")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(suite, "RESULTS", tmp_path / "RESULTS.md")
    return suite.RESULTS


def parts(monkeypatch: pytest.MonkeyPatch, **named: Part) -> None:
    told = {name: (f"Part {name}", each) for name, each in named.items()}
    monkeypatch.setattr(suite, "PARTS", told)


def test_a_suite_that_meets_its_bars_ends_well(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts(monkeypatch, one=part(1.0), other=part(2.0))
    assert suite.main(["one", "other"], quick=False, written=True) == 0
    text = results.read_text()
    assert "## Part one" in text
    assert "## Part other" in text
    assert "| a bar | 2.00 x |     2 x |     met |" in text


def test_a_missed_bar_is_told_from_a_part_that_failed(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
