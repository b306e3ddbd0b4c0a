"""The sweeper: has the store delete what was kept long enough, while the clocks can be trusted.

The store's clock decided until when each thing is kept. A wrong clock must not delete anything, so
nothing is deleted while the store's clock and this machine's differ, nor for a long time after a
clock has jumped.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from saratoga_server.cancellation import pause
from saratoga_server.logs import EventLog
from saratoga_server.ports import Millis
from saratoga_server.store.retention import RetentionStore, Swept

ROUND_EVERY: Final = 60.0
"""Seconds between two rounds of the sweeper."""

SLICE: Final = 16
"""Entries deleted in one call: a call blocks the store while it runs."""

SLICES: Final = 200
"""The most calls in one round; the rest waits for the next one."""

PAUSE: Final = 0.05
"""Seconds between two calls of a round."""

log = EventLog("sweeper")


class Sweeper:
    """The sweeper of one node. Every node of a store has one; sweeping twice changes nothing."""

    def __init__(self, store: RetentionStore, wall: Callable[[], float] = time.time) -> None:
        """`wall` returns this machine's time in seconds since 1970."""
        self._store = store
        self._wall = wall
        self._reason: str | None = None
        """The reason of the warning that was logged last; `None` if all was right since."""

    async def sweep(self) -> None:
        """Delete everything that is due, in small slices."""
        for _ in range(SLICES):
            swept = await self._store.sweep(Millis(int(self._wall() * 1000)), SLICE)
            self._report(swept)
            if swept.done < SLICE:
                return
            await pause(PAUSE)

    def _report(self, swept: Swept) -> None:
        """Log the reason why nothing is deleted when it changes."""
        reason = swept.why_postponed
        if reason == self._reason:
            return
        self._reason = reason
        if reason is None:
            log.info("sweep_resumed")
        elif swept.clocks_differ:
            log.warning("sweep_postponed", reason=reason, ahead_seconds=round(swept.ahead / 1000))
        else:
            until = datetime.fromtimestamp(swept.held_until / 1000, UTC)
            log.warning("sweep_postponed", reason=reason, until=f"{until:%Y-%m-%d}")
