"""The periods of leaderboards that a race counts for, by its start: in UTC, with ISO weeks."""

from datetime import UTC, datetime

import pytest

from saratoga_server.domain.periods import periods
from saratoga_server.ports import Millis


def at(text: str) -> Millis:
    return Millis(int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000))


@pytest.mark.parametrize(
    ("start", "names"),
    [
        ("2026-09-01T00:00:00.000", ["2026-09-01", "2026-W36", "2026-09", "all"]),
        ("2026-08-31T23:59:59.999", ["2026-08-31", "2026-W36", "2026-08", "all"]),
        ("2027-01-03T12:00:00.000", ["2027-01-03", "2026-W53", "2027-01", "all"]),
        ("2024-12-30T12:00:00.000", ["2024-12-30", "2025-W01", "2024-12", "all"]),
    ],
)
def test_a_start_belongs_to_four_periods(start: str, names: list[str]) -> None:
    assert [period.name for period in periods(at(start))] == names


def test_a_period_goes_some_periods_after_its_end() -> None:
    assert [period.gone for period in periods(at("2026-12-31T22:00:00.000"))] == [
        at("2027-01-08T00:00:00.000"),
        at("2027-02-01T00:00:00.000"),
        at("2027-06-30T00:00:00.000"),
        0,
    ]
