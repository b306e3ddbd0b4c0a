"""The check of the store's clock: a clock that is obviously wrong must not time races or date results."""

from datetime import UTC, datetime
from typing import Final

from saratoga_server.ports import Millis
from saratoga_server.store.ledger import StoreReading

FIRST_MOMENT: Final = Millis(1_767_225_600_000)
"""The beginning of 2026, before which this program did not exist."""

BEHIND: Final = 24 * 60 * 60 * 1000
"""Milliseconds by which a store's clock may be behind the newest time that it has stored."""

AHEAD: Final = 400 * BEHIND
"""Milliseconds by which a store's clock may be ahead of the newest time that it has stored: no server ran for so long."""


def why_clock_refused(reading: StoreReading) -> str | None:
    """Return why the store must not be used by its clock, with the remedy; `None` if it may be."""
    if reading.now < FIRST_MOMENT:
        return (
            f"The store's clock is wrong: it shows {shown(reading.now)}. Set the clock of the store's "
            "machine."
        )
    if reading.now < reading.newest - BEHIND:
        return (
            f"The store's clock shows {shown(reading.now)}, but its newest data are of "
            f"{shown(reading.newest)}. Set the clock of the store's machine. If it is right now, and was "
            "ahead before, run `saratoga-server admin accept-clock`."
        )
    newest = max(reading.newest, reading.newest_raised)
    if FIRST_MOMENT <= newest < reading.now - AHEAD:
        return (
            f"The store's clock shows {shown(reading.now)}, but its newest data are of {shown(newest)}, "
            f"more than {AHEAD // BEHIND} days before. Set the clock of the store's machine. If it is right, "
            "run `saratoga-server admin accept-clock`."
        )
    return None


def shown(at: Millis) -> str:
    """Return a time for a sentence."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
