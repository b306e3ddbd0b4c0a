"""The periods of the leaderboards, by a race's start, UTC.

A period is part of its key, so nothing is ever reset: a new day begins with an empty key, and old
keys are deleted a few periods later.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from saratoga_server.ports import Millis

DAYS_KEPT: Final = 7
"""Days after its end until a day's leaderboards are deleted."""
WEEKS_KEPT: Final = 4
"""Weeks after its end until a week's are deleted."""
MONTHS_KEPT: Final = 180
"""Days after its end until a month's are deleted. Those of all time stay."""


class Period(NamedTuple):
    """One of the periods that a moment belongs to."""

    name: str
    """`2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    gone: Millis
    """When its leaderboards are deleted; 0: never."""


def periods(start_at: Millis) -> tuple[Period, Period, Period, Period]:
    """Return the day, the ISO week, the month, and all time."""
    day = datetime.fromtimestamp(start_at / 1000, UTC).date()
    iso = day.isocalendar()
    monday = day - timedelta(days=day.weekday())
    next_month = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return (
        Period(day.isoformat(), _millis(day + timedelta(days=1 + DAYS_KEPT))),
        Period(f"{iso.year}-W{iso.week:02}", _millis(monday + timedelta(weeks=1 + WEEKS_KEPT))),
        Period(f"{day.year}-{day.month:02}", _millis(next_month + timedelta(days=MONTHS_KEPT))),
        Period("all", Millis(0)),
    )


def _millis(midnight: date) -> Millis:
    at = datetime(midnight.year, midnight.month, midnight.day, tzinfo=UTC)
    return Millis(int(at.timestamp()) * 1000)
