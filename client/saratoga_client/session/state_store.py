"""The evening as it is at this moment, and whoever waits for it to change."""

import asyncio
from collections.abc import Callable

from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.state import SessionState


class StateStoreClosed(Exception):
    """The evening is over: nothing changes any more."""


class StateStore:
    """Holds the present evening; one loop writes, screens are told."""

    def __init__(self, *observers: Callable[[SessionState], None]) -> None:
        self._observers = list(observers)
        self._evening: SessionState | None = None
        self._news = asyncio.Event()
        self._is_closed = False

    @property
    def evening(self) -> SessionState | None:
        """`None` before the first snapshot."""
        return self._evening

    @property
    def own(self) -> OwnBoard | None:
        return None if self._evening is None else self._evening.own

    def lay(self, evening: SessionState) -> None:
        """This is how it is now."""
        if evening is self._evening:
            return
        self._evening = evening
        self._wake()
        for observer in tuple(self._observers):
            observer(evening)

    def subscribe(self, observer: Callable[[SessionState], None]) -> Callable[[], None]:
        """Call `observer` after every change; return a function that ends this."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def close(self) -> None:
        """Nobody needs to wait any more."""
        self._is_closed = True
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for the evening to become so; raises `StateStoreClosed` if it never will."""
        while not holds():
            if self._is_closed:
                raise StateStoreClosed
            await self._news.wait()
