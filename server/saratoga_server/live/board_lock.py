"""Whose turn it is at a board: one at a time may judge it, store what follows, and change it."""

import asyncio


class BoardLock(asyncio.Lock):
    """A lock that a move takes without a coroutine where it is free, as it nearly always is.

    To take an `asyncio.Lock` and to give it back makes three of them, a thirtieth of a move's Python.
    """

    _locked: bool

    def take_now(self) -> bool:
        """Take it if it is free and nobody waits for it; `release` it then."""
        if self._locked or self._waiters:
            return False
        self._locked = True
        return True
