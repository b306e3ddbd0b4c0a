"""The queue of timers: when the next timer of each cached table runs out."""

import asyncio
from contextlib import suppress
from heapq import heapify, heappop, heappush
from typing import Final

from saratoga_server.clock import ServerClock
from saratoga_server.ports import Millis

_LATER: Final = 0.001
"""Extra seconds to wait, because the clock counts whole milliseconds."""


_STALE_KEPT: Final = 1_000
"""The most outdated entries that the queue holds before it is rebuilt."""


class DueTables:
    """A queue of table codes, ordered by when their timers run out."""

    def __init__(self, clock: ServerClock) -> None:
        self._clock = clock
        self._due: dict[str, Millis] = {}
        self._queue: list[tuple[Millis, str]] = []
        """A heap of (time, code); entries that differ from `_due` are outdated and skipped."""
        self._at_once: dict[str, None] = {}
        """Tables to be checked without delay, whatever their timers say."""
        self._changed = asyncio.Event()

    def set(self, code: str, at: Millis | None) -> None:
        """Set the time at which the table's next timer runs out; `None`: it has no timer."""
        if at is None:
            self._due.pop(code, None)
            self._at_once.pop(code, None)
        elif self._due.get(code) != at:
            self._due[code] = at
            heappush(self._queue, (at, code))
            self._drop_stale()
            self._changed.set()

    def set_now(self, code: str) -> None:
        """Make the table due at once; a timer that is set afterwards does not change that."""
        self._at_once[code] = None
        self._changed.set()

    def take_due(self) -> str | None:
        """Remove and return a table whose timer has run out; `None`: there is none."""
        if self._at_once:
            code = next(iter(self._at_once))
            del self._at_once[code]
            return code
        if not self._has_due():
            return None
        _, code = heappop(self._queue)
        del self._due[code]
        return code

    async def wait(self) -> None:
        """Wait until a table can be taken."""
        while not self._has_due():
            at = self._next_at()
            wait = None if at is None else self._clock.seconds_until(at) + _LATER
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._changed.wait()

    def _has_due(self) -> bool:
        at = self._next_at()
        return bool(self._at_once) or (at is not None and at <= self._clock.now())

    def _next_at(self) -> Millis | None:
        while self._queue and self._due.get(self._queue[0][1]) != self._queue[0][0]:
            heappop(self._queue)
        return self._queue[0][0] if self._queue else None

    def _drop_stale(self) -> None:
        """Rebuild the queue if it has too many outdated entries."""
        if len(self._queue) > 2 * len(self._due) + _STALE_KEPT:
            self._queue = [(at, code) for code, at in self._due.items()]
            heapify(self._queue)
