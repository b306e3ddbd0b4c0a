"""Work that goes on for ever, and ends when it is called off, whatever it is doing just then.

On Python 3.11 that takes some care: `asyncio.wait_for`, with which redis-py sends, swallows the
cancellation of a task if what it waits for is done in the same turn of the loop, and the task would
go on as if nobody had told it.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

AGAIN: Final = 0.25
"""Seconds after which a task that goes on is told again."""


class TaskEnded(Exception):
    """What should go on for ever has ended, and the house with it: nobody had asked for that."""

    def __init__(self) -> None:
        super().__init__("The house closed because of a fault of its own; the log has it.")


async def pause(seconds: float) -> None:
    """Sleep between two rounds; ends the task if it was called off during the last."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    await asyncio.sleep(seconds)


async def cancel_all(duties: Iterable["asyncio.Task[object]"]) -> list[BaseException]:
    """Cancel tasks until every one of them has ended; returns what went wrong in them."""
    tasks = list(duties)
    going_on = set(tasks)
    while going_on:
        for task in going_on:
            task.cancel()
        _, going_on = await asyncio.wait(going_on, timeout=AGAIN)
    faults = (task.exception() for task in tasks if not task.cancelled())
    return [fault for fault in faults if fault is not None]
