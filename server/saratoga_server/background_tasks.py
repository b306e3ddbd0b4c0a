"""Background tasks: work that no caller awaits. Failures are logged."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Final

from saratoga_server.domain.tables import CommandRejected
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreUnavailable

log = EventLog("tasks")

SLICE: Final = 64
"""Tasks started in one turn of the event loop; starting more at once would block it."""

Run = Callable[[Awaitable[object]], Coroutine[object, object, None]]


async def run_logged(work: Awaitable[object]) -> bool:
    """Await `work`. Returns False, and logs a line, if it failed."""
    return await run_each_logged([work])


async def run_each_logged(works: Iterable[Awaitable[object]]) -> bool:
    """Await all of `works` concurrently: one that fails, or waits for the store, delays no other.

    Returns False if any failed; equal failures share one log line.
    """
    every = list(works)
    faults: dict[tuple[type[Exception], str], Exception] = {}
    times: Counter[tuple[type[Exception], str]] = Counter()

    async def run(work: Awaitable[object]) -> None:
        try:
            await work
        except Exception as fault:  # no caller awaits this work: only the log shows the error
            kind = type(fault), str(fault)
            faults.setdefault(kind, fault)
            times[kind] += 1

    try:
        if len(every) == 1:
            await run(every[0])
        else:
            await _concurrently(run, every)
    finally:  # if cancelled, the rest is never started
        for work in every:
            if asyncio.iscoroutine(work):
                work.close()
    for kind, fault in faults.items():
        _log_failure(fault, times[kind])
    faults.clear()  # an exception and the frames in its traceback refer to each other
    return not times


async def _concurrently(run: Run, every: Sequence[Awaitable[object]]) -> None:
    """Run all of `every` concurrently, yielding to the event loop after each slice of starts."""
    async with asyncio.TaskGroup() as group:
        for start in range(0, len(every), SLICE):
            for work in every[start : start + SLICE]:
                group.create_task(run(work))
            await asyncio.sleep(0)


def _log_failure(fault: Exception, times: int) -> None:
    often = {"times": times} if times > 1 else {}
    if isinstance(fault, StoreUnavailable):
        log.debug("task_postponed", reason=str(fault), **often)  # `Readiness` reports the store
    elif isinstance(fault, CommandRejected):
        log.warning("task_postponed", reason=str(fault), **often)
    else:
        log.error("server_fault", fault=fault, **often)


class BackgroundTasks:
    """A set of running background tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[bool]] = set()

    def spawn(self, work: Awaitable[object]) -> None:
        """Start `work` in the background."""
        task = asyncio.create_task(run_logged(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until no task is running, including tasks that are started meanwhile."""
        while self._tasks:
            await asyncio.gather(*self._tasks)
            await asyncio.sleep(0)
