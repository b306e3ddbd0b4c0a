"""Whether players may be sent to this node."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.ports import StoreUnavailable

FRESH: Final = 1.0
"""Seconds for which an answer of the store holds."""

WITHIN: Final = 1.0
"""Seconds in which the store must answer."""


class Readiness:
    """Knows whether this node stops soon, and whether the store answers (asked once a second)."""

    def __init__(
        self, ask_store: Callable[[], Awaitable[object]], steady: Callable[[], float]
    ) -> None:
        """`steady` counts seconds and never steps."""
        self.is_stopping = False
        """About to stop: no player should be sent here; those who are here play on."""
        self.is_draining = False
        """Stopping: no race starts here, and everybody is sent to another node."""
        self._ask_store = ask_store
        self._steady = steady
        self._lock = asyncio.Lock()
        self._asked_at: float | None = None
        self._has_answer = False

    async def why_not_ready(self) -> str | None:
        """Return why no player should be sent here now, for people; `None`: ready."""
        if self.is_stopping or self.is_draining:
            return "This server is about to stop."
        return None if await self._store_answers() else "The store does not answer."

    async def _store_answers(self) -> bool:
        called_at = self._steady()
        async with self._lock:
            # a caller that waited for another's question takes the answer to that
            if self._asked_at is None or self._asked_at + FRESH <= called_at:
                self._has_answer = await self._asked()
                self._asked_at = self._steady()
            return self._has_answer

    async def _asked(self) -> bool:
        try:
            async with asyncio.timeout(WITHIN):
                await self._ask_store()
        except (StoreUnavailable, TimeoutError):
            return False
        return True
