"""What Prometheus wants to know without being told: whether this node is ready, how its store does."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from saratoga_server.background_tasks import run_logged
from saratoga_server.cancellation import pause
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import StoreHealth

LOOK_EVERY: Final = 2.0
"""Seconds."""


class Readiness(Protocol):
    """Who knows whether players may come."""

    async def why_not_ready(self) -> str | None: ...


class Sampler:
    """Looks at one node again and again, and writes down what it sees."""

    def __init__(
        self,
        house: Readiness,
        store: Callable[[], Awaitable[Sequence[StoreHealth]]],
        metrics: Metrics,
    ) -> None:
        self._house = house
        self._store = store
        self._metrics = metrics

    async def keep(self) -> None:
        """Look; for ever."""
        while True:
            await run_logged(self.look())
            await pause(LOOK_EVERY)

    async def look(self) -> None:
        """Once: the door first, since that is what players feel."""
        self._metrics.tasks = len(asyncio.all_tasks())
        self._metrics.is_ready = await self._house.why_not_ready() is None
        self._metrics.stores = tuple(await self._store())
