"""What is done in the background because nobody waits for it: a fault in it is logged."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Final

from saratoga_server.domain.tables import Refusal
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable

log = EventLog("errands")


SLICE: Final = 64
"""Works that are begun in one go; more would hold up the event loop."""

Do = Callable[[Awaitable[object]], Coroutine[object, object, None]]


async def run_logged(work: Awaitable[object]) -> bool:
    """Do it; False, and a line in the log, if it went wrong."""
    return await run_each_logged([work])


async def run_each_logged(works: Iterable[Awaitable[object]]) -> bool:
    """Do all of it side by side: what goes wrong, or has to wait for the store, holds up no other.

    Slice by slice it begins, and none waits for the end of another. False if anything went wrong;
    what went wrong in the same way is one line in the log.
    """
    every = list(works)
    faults: dict[tuple[type[Exception], str], Exception] = {}
    times: Counter[tuple[type[Exception], str]] = Counter()

    async def do(work: Awaitable[object]) -> None:
        try:
            await work
        except Exception as fault:  # nobody awaits this: the log is the only witness
            alike = type(fault), str(fault)
            faults.setdefault(alike, fault)
            times[alike] += 1

    try:
        if len(every) == 1:
            await do(every[0])
        else:
            await _side_by_side(do, every)
    finally:  # called off: what has not begun never will
        for work in every:
            if asyncio.iscoroutine(work):
                work.close()
    for alike, fault in faults.items():
        _tell(fault, times[alike])
    faults.clear()  # it and the frames in its tracebacks hold each other
    return not times


async def _side_by_side(do: Do, every: Sequence[Awaitable[object]]) -> None:
    """Begin it all, with a turn of the event loop after every slice; wait for the last to end."""
    async with asyncio.TaskGroup() as group:
        for start in range(0, len(every), SLICE):
            for work in every[start : start + SLICE]:
                group.create_task(do(work))
            await asyncio.sleep(0)


def _tell(fault: Exception, times: int) -> None:
    often = {"times": times} if times > 1 else {}
    if isinstance(fault, Refusal | StoreUnavailable):
        log.warning("put_off", reason=str(fault), **often)
    else:
        log.error("house_fault", fault=fault, **often)


class BackgroundTasks:
    """Background work under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[bool]] = set()

    def spawn(self, work: Awaitable[object]) -> None:
        """Have something done."""
        task = asyncio.create_task(run_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until all of it is done."""
        await asyncio.gather(*self._tasks)
