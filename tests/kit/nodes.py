"""Several server processes on one store: the same house, however many doors it has."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from kit.server_process import ServerProcess, flags_for, running_server


@asynccontextmanager
async def nodes_on(
    redis: str | Sequence[str], count: int, *flags: str
) -> AsyncIterator[list[ServerProcess]]:
    """So many servers on the store at that address, called `n1`, `n2` and so on; `flags` go to each.

    Of several addresses, ways to the same store, each server has its own.
    """
    urls = [redis] * count if isinstance(redis, str) else redis
    async with AsyncExitStack() as stack:
        opening = (
            stack.enter_async_context(
                running_server(*flags_for(url, ("--node", f"n{number}", "--rate", "0", *flags)))
            )
            for number, url in enumerate(urls[:count], start=1)
        )
        yield list(await asyncio.gather(*opening))
