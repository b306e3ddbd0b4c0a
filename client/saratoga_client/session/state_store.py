"""The current state of a table session: waits for a condition, and an iterator over its changes."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from saratoga_client.session.differ import report, with_news
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState


class StateStoreClosed(Exception):
    """The error of a wait: the session has ended, and its state no longer changes."""


class StateStore:
    """The session's current state; all methods run on one event loop."""

    def __init__(self, now: Callable[[], int]) -> None:
        """`now` returns the server's time in milliseconds since 1970."""
        self._now = now
        self.state: SessionState | None = None
        """The current state; `None` before the first snapshot."""
        self.is_closed = False
        self._changed = asyncio.Event()
        self._unread: list[deque[SessionState]] = []
        """The states that each reader has not reached."""

    @property
    def own(self) -> OwnBoard | None:
        """The player's own board in the current state, if there is one."""
        return None if self.state is None else self.state.own

    def replace(self, state: SessionState) -> None:
        """Replace the state, with the news of the change, and wake all who wait for a change."""
        state = with_news(self.state, state, self._now())
        if state != self.state:
            self.state = state
            for unread in self._unread:
                unread.append(state)
            self._wake()

    def report(self, text: str) -> None:
        """Add a piece of news of this machine, unless it is known."""
        if self.state is not None:
            self.replace(report(self.state, text, self._now()))

    def close(self) -> None:
        """End `states`, and make every wait raise `StateStoreClosed`, unless its condition holds."""
        self.is_closed = True
        self._wake()

    async def states(self, *, every: bool = False) -> AsyncIterator[SessionState]:
        """Yield the state now and after changes, until the session ends and its last state was yielded.

        A reader that is slower than the changes misses those in between, unless it wants `every`
        state.
        """
        unread = deque([] if self.state is None else [self.state], maxlen=None if every else 1)
        self._unread.append(unread)
        try:
            while unread or not self.is_closed:
                if unread:
                    yield unread.popleft()
                else:
                    await self._changed.wait()
        finally:
            self._unread.remove(unread)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until the condition holds; raises `StateStoreClosed` after the end of the session."""
        while not holds():
            if self.is_closed:
                raise StateStoreClosed
            await self._changed.wait()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
