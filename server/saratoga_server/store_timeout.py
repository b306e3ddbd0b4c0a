"""How long somebody waits for the store, whatever it is that takes so long."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from saratoga_server.ports import StoreUnavailable

STORE_TIMEOUT: Final = 6.0
"""Seconds in which a store is tried before it is unavailable, a restart of it included.

It holds for waiting one's turn at a table and for the store together: each trying that long in turn,
the tenth at a table whose store is away would hear of it after a minute.
"""


@asynccontextmanager
async def within_timeout(seconds: float) -> AsyncIterator[None]:
    """Raise `StoreUnavailable` if what is done here is not done in time.

    It is called off where it stands: a write that was on its way may have been made.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise StoreUnavailable("the table could not be looked after in time") from None
