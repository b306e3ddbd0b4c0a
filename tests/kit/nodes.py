"""Several server processes on one store."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from kit.server_process import ServerProcess, flags_for, running_server


@asynccontextmanager
async def nodes_on(
    redis: str | Sequence[str], count: int, *flags: str, module: str = ServerProcess.module
) -> AsyncIterator[list[ServerProcess]]:
    """Run `count` servers named `n1`, `n2` and so on, each with the options `flags`.

    `redis` is the address of the store, or one address of the same store for each server.
    """
    urls = [redis] * count if isinstance(redis, str) else redis
    async with AsyncExitStack() as stack:
        opening = (
            stack.enter_async_context(
                running_server(
                    *flags_for(url, ("--node", f"n{number}", "--rate", "0", *flags)), module=module
                )
            )
            for number, url in enumerate(urls[:count], start=1)
        )
        yield list(await asyncio.gather(*opening))
