"""Background tasks that cancel reliably.

On Python 3.11 `asyncio.wait_for` swallows the cancellation of a task if the awaited future is done
in the same turn of the event loop. The task would go on as if it had not been cancelled.
`store.clients` keeps redis-py from that; any other library that a task awaits may use it too.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

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
