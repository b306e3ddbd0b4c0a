"""The periods of the leaderboards, by a race's start, in UTC.

The period is part of a leaderboard's key in the store. So no leaderboard is ever reset: a new day
has a new key, and old keys are deleted a few periods later.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from saratoga_server.ports import Millis

DAYS_KEPT: Final = 7
"""Days until a day's leaderboards are deleted, from the end of the day."""
WEEKS_KEPT: Final = 4
"""Weeks until a week's leaderboards are deleted, from the end of the week."""
MONTHS_KEPT: Final = 180
"""Days until a month's leaderboards are deleted, from the end of the month."""


class Period(NamedTuple):
    """A period of the leaderboards: a day, an ISO week, a month, or all time."""

    name: str
    """The period's name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    gone: Millis
    """The time at which the period's leaderboards are deleted; 0: never."""


def periods(start_at: Millis) -> tuple[Period, Period, Period, Period]:
    """Return the four periods of a race: its day, ISO week and month, and all time."""
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
