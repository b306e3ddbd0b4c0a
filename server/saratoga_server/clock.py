"""The server's time: the store's clock, read now and then and continued by the monotonic clock.

The store checks every deadline when a move is written; a node's own estimate only decides when the
node checks. A step of the machine's wall clock has no effect.
"""

import math
import time
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.background_tasks import pause
from saratoga_server.ports import Millis, StoreUnavailable

RESYNC: Final = 5.0
"""Seconds between two readings of the store's clock."""

DRIFT: Final = 0.2
"""Milliseconds by which two clocks may drift apart in a second."""


class ServerClock:
    """The store's clock in milliseconds since 1970, estimated between two readings."""

    def __init__(
        self,
        store_time: Callable[[], Awaitable[Millis]],
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """`store_time` reads the store's clock, `steady` returns seconds that never step."""
        self._store_time = store_time
        self._steady = steady
        self._offset = 0.0
        self._unsure = math.inf
        """The possible error of the estimated time, in milliseconds."""
        self._read_at = 0.0

    def now(self) -> Millis:
        return Millis(int(self._steady() * 1000 + self._offset))

    async def synchronise(self) -> None:
        """Read the store's clock; assume that the reply took half of the round trip.

        A reading less exact than an older one is ignored, unless the two contradict each other.
        """
        asked = self._steady()
        there = await self._store_time()
        answered = self._steady()
        before, offset = self._offset, there - (asked + answered) * 500
        unsure = (answered - asked) * 500
        self._unsure += (answered - self._read_at) * DRIFT
        self._read_at = answered
        if unsure > self._unsure >= abs(offset - before) - unsure:
            return
        self._offset, self._unsure = offset, unsure

    async def keep_synchronised(self) -> None:
        """Read the store's clock every `RESYNC` seconds until cancelled."""
        while True:
            await pause(RESYNC)
            try:
                await self.synchronise()
            except StoreUnavailable:
                continue
