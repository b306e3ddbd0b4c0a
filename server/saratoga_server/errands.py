"""What is done in the background because nobody waits for it: a fault in it is logged."""

import asyncio
from collections.abc import Awaitable, Iterable

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable
from saratoga_server.table import Refusal

log = EventLog("errands")


async def guarded(work: Awaitable[object]) -> bool:
    """Do it; False, and a line in the log, if it went wrong."""
    try:
        await work
    except (Refusal, StoreUnavailable) as fault:
        log.warning("put_off", reason=str(fault))
    except Exception as fault:  # nobody awaits this: the log is the only witness
        log.error("house_fault", fault=fault)
    else:
        return True
    return False


async def guarded_each(works: Iterable[Awaitable[object]]) -> None:
    """Do all of it side by side: what goes wrong, or has to wait for the store, holds up no other."""
    await asyncio.gather(*(guarded(work) for work in works))


class Errands:
    """Background work under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[bool]] = set()

    def spawn(self, work: Awaitable[object]) -> None:
        """Have something done."""
        task = asyncio.create_task(guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until all of it is done."""
        await asyncio.gather(*self._tasks)
