"""A lock that a callback can acquire."""

import asyncio
from collections import deque


class BoardLock:
    """The lock of a board, held while a move is judged, stored and applied. It is fair.

    `asyncio.Lock` can only be acquired by a coroutine, but moves are judged in a callback.
    """

    __slots__ = ("_is_held", "_waiting")

    def __init__(self) -> None:
        self._is_held = False
        self._waiting: deque[asyncio.Future[None]] | None = None

    def try_acquire(self) -> bool:
        """Acquire the lock if it is free; return whether it was."""
        if self._is_held:
            return False
        self._is_held = True
        return True

    async def acquire(self) -> None:
        """Wait for the lock and acquire it."""
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
                self.release()  # it was acquired just as the wait was cancelled
            raise

    def release(self) -> None:
        """Release the lock, or pass it to the longest-waiting caller."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)  # still held, by that waiter now
                return
        self._is_held = False

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *exception: object) -> None:
        self.release()
