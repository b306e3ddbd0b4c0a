"""Warn a racer who has given no sign of activity, before the server ends the board."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from saratoga_client.session.state import SessionState
from saratoga_client.session.state_store import StateStore
from saratoga_rules.records.standing import IDLE_MILLIS

WARNED_AT: Final = (15, 60)
"""Seconds before the board's end at which the player is warned, the last warning first."""

CHECK_EVERY: Final = 0.5
"""Seconds between two checks."""


def may_end_as_idle(state: SessionState) -> bool:
    """Return whether the server ends the player's board after three minutes without a sign."""
    own = state.own
    is_racing = own is not None and own.is_racing and state.phase == "running"
    return is_racing and len(state.table.seats) > 1


class Activity:
    """The time since the player's last sign of activity; writes `SessionState.idle_left`."""

    def __init__(self, store: StateStore, steady: Callable[[], float] = time.monotonic) -> None:
        """`steady` returns seconds from a clock that never steps."""
        self._store = store
        self._steady = steady
        self._since = steady()

    def note(self) -> None:
        """Note a sign of activity; a warning ends."""
        self._since = self._steady()
        self._warn(0)

    def check(self) -> None:
        """Warn if it is time."""
        state = self._store.state
        if state is None or not may_end_as_idle(state):
            self.note()
            return
        left = IDLE_MILLIS / 1000 - (self._steady() - self._since)
        self._warn(next((seconds for seconds in WARNED_AT if left <= seconds), 0))

    async def watch(self) -> None:
        """Check until cancelled."""
        while True:
            self.check()
            await asyncio.sleep(CHECK_EVERY)

    def _warn(self, left: int) -> None:
        state = self._store.state
        if state is not None and state.idle_left != left:
            self._store.replace(replace(state, idle_left=left))
