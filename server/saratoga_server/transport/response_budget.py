"""A memory limit for long answers, which are records of up to two megabytes.

A client that does not read its record holds memory until it is aborted after two seconds.
So the bytes of long answers that are being sent at once, to all clients together, are limited.
"""

import asyncio
from typing import Final

LONG: Final = 64 * 1024
"""The size in bytes above which an answer is long."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""The most bytes of long answers that are being sent at once."""

LOADED_AT_ONCE: Final = 8
"""The most records that are being read from the store at once; their sizes are unknown."""

WAIT: Final = 1.0
"""Seconds after which a refused client may try again."""


class ResponseBudget:
    """The budget for long answers that this node is sending."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most
        """The bytes left in the budget."""
        self.loading = asyncio.Semaphore(LOADED_AT_ONCE)
        """Held while a record is read from the store."""

    def has_room(self, size: int) -> bool:
        """Reserve `size` bytes until `done`; return False if there is no room."""
        if size > LONG:
            if size > self.left:
                return False
            self.left -= size
        return True

    def done(self, size: int) -> None:
        """Release the bytes of an answer that was read, or whose reader has gone."""
        if size > LONG:
            self.left += size
