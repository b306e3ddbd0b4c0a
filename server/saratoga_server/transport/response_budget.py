"""A bound on answers longer than what may wait for one client: records, of up to two megabytes.

A client that asks for a record and does not read it holds all of it until it is cut off after two
seconds. So only so many bytes of long answers are on their way at once, to all clients together.
"""

import asyncio
from typing import Final

LONG: Final = 64 * 1024
"""Bytes from which an answer is long."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""Of all long answers on their way."""

LOADED_AT_ONCE: Final = 8
"""Records that are being read from the store, of unknown length."""

WAIT: Final = 1.0
"""Seconds after which there may be room again."""


class ResponseBudget:
    """The long answers on their way from this node."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self.left = most
        """Bytes that may still be sent."""
        self.loading = asyncio.Semaphore(LOADED_AT_ONCE)
        """Held while a record is read from the store."""

    def has_room(self, size: int) -> bool:
        """Whether an answer of so many bytes may be sent; if so, it counts until it is `done`."""
        if size > LONG:
            if size > self.left:
                return False
            self.left -= size
        return True

    def done(self, size: int) -> None:
        """Count an answer no longer: it was read, or its reader is gone."""
        if size > LONG:
            self.left += size
