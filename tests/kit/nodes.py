"""Several server processes on one store: the same house, however many doors it has."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from kit.house import House, flags_for, open_house


@asynccontextmanager
async def nodes_on(redis: str, count: int, *flags: str) -> AsyncIterator[list[House]]:
    """So many servers on the store at that address, called `n1`, `n2` and so on; `flags` go to each."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                open_house(*flags_for(redis, ("--node", f"n{number}", "--rate", "0", *flags)))
            )
            for number in range(1, count + 1)
        ]
