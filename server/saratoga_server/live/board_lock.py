"""A lock that can be taken without a coroutine."""

import asyncio
from collections import deque


class BoardLock:
    """Held while a board is judged, stored and changed. Waiters get it in the order they came.

    `asyncio.Lock` can only be taken by a coroutine; a move is judged in a callback.
    """

    __slots__ = ("_is_held", "_waiting")

    def __init__(self) -> None:
        self._is_held = False
        self._waiting: deque[asyncio.Future[None]] | None = None

    def try_acquire(self) -> bool:
        """Take the lock if it is free."""
        if self._is_held:
            return False
        self._is_held = True
        return True

    async def acquire(self) -> None:
        """Wait for the lock and take it."""
        if self.try_acquire():
            return
        if self._waiting is None:
            self._waiting = deque()
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # it was handed over just as the wait was cancelled
            raise

    def release(self) -> None:
        """Give the lock back, or hand it to the waiter that has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)  # still held: by that waiter
                return
        self._is_held = False

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *exception: object) -> None:
        self.release()
