"""Periodic samples of readiness, store health and tasks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.background_tasks import run_logged
from saratoga_server.cancellation import pause
from saratoga_server.metrics.counters import Metrics
from saratoga_server.store.health import StoreHealth

SAMPLE_EVERY: Final = 2.0
"""Seconds between two samples."""


class Sampler:
    """A sampler of the state of one node, for its metrics."""

    def __init__(
        self,
        why_not_ready: Callable[[], Awaitable[str | None]],
        store_health: Callable[[], Awaitable[StoreHealth]],
        metrics: Metrics,
        why_store_refused: Callable[[], str | None],
    ) -> None:
        """`why_not_ready` returns why this node accepts no players; `None` if it does.

        `why_store_refused` returns why the store must not be used; `None` if it may be.
        """
        self._why_not_ready = why_not_ready
        self._store_health = store_health
        self._metrics = metrics
        self._why_store_refused = why_store_refused

    async def keep(self) -> None:
        """Take a sample every `SAMPLE_EVERY` seconds; never return."""
        while True:
            await run_logged(self.sample())
            await pause(SAMPLE_EVERY)

    async def sample(self) -> None:
        """Take one sample; readiness first, because players depend on it."""
        self._metrics.tasks = len(asyncio.all_tasks())
        self._metrics.is_store_refused = self._why_store_refused() is not None
        self._metrics.is_ready = await self._why_not_ready() is None
        self._metrics.store = await self._store_health()
