"""Answers that are longer than what may wait for a player: records, which may have two megabytes.

Whoever asks for one and does not read it holds all of it for the two seconds until the watchdog
cuts the line. So there are only so many bytes of them on their way at once, to everybody together.
"""

import asyncio
from typing import Final

LONG: Final = 64 * 1024
"""Bytes from which an answer is long."""

MOST_BYTES: Final = 32 * 1024 * 1024
"""Of long answers on their way."""

LOADED_AT_ONCE: Final = 8
"""Records that are being read from the store, whose length is not known yet."""

WAIT: Final = 1.0
"""Seconds after which there may be room again."""


class ResponseBudget:
    """Those on their way from this node."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._left = most
        self.loading = asyncio.Semaphore(LOADED_AT_ONCE)
        """Held while one is read from the store."""

    def has_room(self, size: int) -> bool:
        """Whether an answer of so many bytes may go; if so, it counts until it is `done`."""
        if size > LONG:
            if size > self._left:
                return False
            self._left -= size
        return True

    def done(self, size: int) -> None:
        """An answer of so many bytes is read, or its reader gone."""
        if size > LONG:
            self._left += size
