"""Store of a table session's current state, with observers and waits for a condition."""

import asyncio
from collections.abc import Callable

from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState

Observer = Callable[[SessionState], None]


class StateStoreClosed(Exception):
    """The error of a wait: the session has ended, and its state no longer changes."""


class StateStore:
    """The session's current state and its observers; all methods run on one event loop."""

    def __init__(self) -> None:
        self._state: SessionState | None = None
        self._observers: list[Observer] = []
        self._changed = asyncio.Event()
        self._is_closed = False

    @property
    def state(self) -> SessionState | None:
        """The current state; `None` before the first snapshot."""
        return self._state

    @property
    def own(self) -> OwnBoard | None:
        """The player's own board in the current state, if there is one."""
        return None if self._state is None else self._state.own

    def subscribe(self, observer: Observer) -> Callable[[], None]:
        """Call the observer after each change; return a function that ends the subscription."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def replace(self, state: SessionState) -> None:
        """Replace the state and notify all observers and waiters."""
        if state is self._state:
            return
        self._state = state
        self._wake()
        for observer in tuple(self._observers):
            observer(state)

    def close(self) -> None:
        """Make every wait raise `StateStoreClosed`, unless its condition holds."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition holds; raises `StateStoreClosed` after the end of the session."""
        while not holds():
            if self._is_closed:
                raise StateStoreClosed
            await self._changed.wait()
