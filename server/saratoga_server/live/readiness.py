"""Readiness: whether load balancers should send players to this node."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable

log = EventLog("store")

WITHIN: Final = 1.0
"""Seconds in which the store must answer."""


REPORTED_AFTER: Final = 5.0
"""Seconds without an answer after which the log says so."""

STORE_REFUSED: Final = "The server's store must not be used now. The server's log says why."
"""All that `/readyz` says of it: the reason may name folders and addresses."""


class Readiness:
    """The readiness of this node: not about to stop, and with a usable store."""

    def __init__(
        self,
        ask_store: Callable[[], Awaitable[object]],
        steady: Callable[[], float],
        why_store_refused: Callable[[], str | None],
    ) -> None:
        """`steady`: seconds of a clock that never steps; `why_store_refused`: sentences, or none."""
        self.is_stopping = False
        """True before a shutdown: new players should use another node, present ones play on."""
        self.is_draining = False
        """True during a shutdown: no race starts here, and all players are sent to another node."""
        self._ask_store = ask_store
        self._why_store_refused = why_store_refused
        self._steady = steady
        self._away_since: float | None = None
        """Since when the store does not answer; `None` if it does."""
        self._is_reported = False

    async def why_not_ready(self) -> str | None:
        """Return a sentence that says why the node is not ready; `None` if it is ready."""
        if self.is_stopping or self.is_draining:
            return "This server is about to stop."
        if self._why_store_refused() is not None:
            return STORE_REFUSED
        try:
            async with asyncio.timeout(WITHIN):
                await self._ask_store()
        except (StoreUnavailable, TimeoutError):
            self._report_away(self._steady())
            return "The store does not answer."
        if self._is_reported and self._away_since is not None:
            log.info("store_back", seconds=round(self._steady() - self._away_since))
        self._away_since, self._is_reported = None, False
        return None

    def _report_away(self, now: float) -> None:
        """Log once that the store has been away for `REPORTED_AFTER`."""
        self._away_since = now if self._away_since is None else self._away_since
        if not self._is_reported and now - self._away_since >= REPORTED_AFTER:
            self._is_reported = True
            log.error("store_away", seconds=round(now - self._away_since))
