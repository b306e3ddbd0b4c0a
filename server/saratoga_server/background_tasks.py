"""Background tasks: work that no caller awaits. Failures are logged, and tasks cancel reliably.

On Python 3.11 `asyncio.wait_for` swallows the cancellation of a task if the awaited future is done
in the same turn of the event loop. The task would go on as if it had not been cancelled.
`store.client` keeps redis-py from that; any other library that a task awaits may use it too.
"""

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


REPEAT_AFTER: Final = 0.25
"""Seconds after which a task that is still running is cancelled again."""


class TaskEnded(Exception):
    """The unexpected end of a background task; the server stops."""

    def __init__(self) -> None:
        super().__init__("The server stopped because of an internal error; the log has it.")


async def pause(seconds: float) -> None:
    """Sleep in a background task; raise `CancelledError` if it was cancelled meanwhile."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    await asyncio.sleep(seconds)


async def cancel_all(running: Iterable["asyncio.Task[object]"]) -> list[BaseException]:
    """Cancel tasks until all have ended; return the exceptions that they raised."""
    tasks = list(running)
    going_on = set(tasks)
    while going_on:
        for task in going_on:
            task.cancel()
        _, going_on = await asyncio.wait(going_on, timeout=REPEAT_AFTER)
    faults = (task.exception() for task in tasks if not task.cancelled())
    return [fault for fault in faults if fault is not None]
