"""How long a caller waits for the store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from saratoga_server.ports import StoreUnavailable

STORE_TIMEOUT: Final = 6.0
"""Seconds in which the store is tried before it counts as unavailable, a restart of it included.

It covers waiting for a table's lock and for the store together: if each tried that long in turn, the
tenth at a table whose store is away would wait a minute for an answer.
"""


@asynccontextmanager
async def within_timeout(seconds: float) -> AsyncIterator[None]:
    """Raise `StoreUnavailable` if what is done inside takes longer.

    It is cancelled where it stands: a write that was under way may have been made.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise StoreUnavailable("the table could not be read or written in time") from None
