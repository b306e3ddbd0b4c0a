"""The periods of the leaderboards, by the time at which a race ended, in UTC.

The period is part of a leaderboard's key in the store. So no leaderboard is ever reset: a new day
has a new key, and the old key is kept for one more day.
"""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from saratoga_server.ports import Millis


class Period(NamedTuple):
    """A period of the leaderboards: a day, an ISO week, a month, or all time."""

    name: str
    """The period's name: `2026-09-01`, `2026-W36`, `2026-09` or `all`."""
    gone: Millis
    """The time at which the period's leaderboards are deleted, one period after its end; 0: never."""


def periods(at: Millis) -> tuple[Period, Period, Period, Period]:
    """Return the four periods of a time: its day, ISO week and month, and all time."""
    day = datetime.fromtimestamp(at / 1000, UTC).date()
    iso = day.isocalendar()
    monday = day - timedelta(days=day.weekday())
    next_month = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return (
        Period(day.isoformat(), _millis(day + timedelta(days=2))),
        Period(f"{iso.year}-W{iso.week:02}", _millis(monday + timedelta(weeks=2))),
        Period(f"{day.year}-{day.month:02}", _millis(next_month + timedelta(days=31))),
        Period("all", Millis(0)),
    )


def kept_periods(now: Millis) -> set[str]:
    """Return the names of all periods whose leaderboards may be kept now."""
    days = (0, 1, 7, 31, 62)
    return {
        period.name for ago in days for period in periods(Millis(now - ago * 24 * 60 * 60 * 1000))
    }


def _millis(midnight: date) -> Millis:
    at = datetime(midnight.year, midnight.month, midnight.day, tzinfo=UTC)
    return Millis(int(at.timestamp()) * 1000)
