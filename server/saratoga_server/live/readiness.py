"""Whether players may be sent here: whoever asks learns it, however many ask, for little work."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.ports import StoreUnavailable

FRESH: Final = 1.0
"""Seconds for which an answer of the store is good."""

WITHIN: Final = 1.0
"""Seconds in which the store must answer."""


class Readiness:
    """Whether the store answers, asked at most once a second."""

    def __init__(
        self, ask_store: Callable[[], Awaitable[object]], steady: Callable[[], float]
    ) -> None:
        """`steady` counts seconds and never steps."""
        self._ask_store = ask_store
        self._steady = steady
        self._lock = asyncio.Lock()
        self._answered_at: float | None = None
        self._has_answer = False

    async def store_answers(self) -> bool:
        """Whether it did, a second ago at most."""
        asked_at = self._steady()
        async with self._lock:
            # who waited for the question of another takes the answer to that
            if self._answered_at is None or self._answered_at + FRESH <= asked_at:
                self._has_answer = await self._asked()
                self._answered_at = self._steady()
            return self._has_answer

    async def _asked(self) -> bool:
        try:
            async with asyncio.timeout(WITHIN):
                await self._ask_store()
        except (StoreUnavailable, TimeoutError):
            return False
        return True
