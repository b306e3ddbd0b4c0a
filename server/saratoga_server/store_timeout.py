"""The timeout of calls to the store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from saratoga_server.ports import StoreUnavailable

STORE_TIMEOUT: Final = 6.0
"""Seconds of retries before the store counts as unavailable; enough for a restart of the store.

It covers waiting for a table's lock and for the store together. Otherwise ten callers at one table would
wait one after another, the last one for a minute.
"""


@asynccontextmanager
async def within_timeout(seconds: float) -> AsyncIterator[None]:
    """Raise `StoreUnavailable` if the work in the `async with` block takes longer.

    The work is cancelled; a write in progress may have been made.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise StoreUnavailable("the table could not be read or written in time") from None
