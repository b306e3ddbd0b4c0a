"""The background tasks of one table session, and how the session ends.

Tasks start in the order in which they are given. The first error of a task ends the session.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from saratoga_client.session.error_messages import CONNECTION_ERRORS

LOG: Final = logging.getLogger("saratoga.racing")


class SessionTasks:
    """Background tasks that are cancelled together."""

    def __init__(self, explain: Callable[[Exception], Exception]) -> None:
        """Use `explain` to turn an error of the connection into the error that the player sees."""
        self._explain = explain
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._error: Exception | None = None

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Run the coroutine in the background; return its task."""
        task = asyncio.get_running_loop().create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A task cancelled before its first step never awaits the coroutine: close it here.
        task.add_done_callback(lambda _: work.close())
        return task

    def end(self, error: Exception | None = None) -> None:
        """End the session, with an error or without; only the first call counts."""
        if not self._ended.is_set():
            self._error = error
            self._ended.set()

    async def wait_for_end(self) -> None:
        """Wait until the session ends; raises the error that ended it."""
        await self._ended.wait()
        if self._error is not None:
            raise self._error

    async def cancel(self) -> None:
        """Cancel all tasks and wait until they have stopped."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except CONNECTION_ERRORS as error:
            self.end(self._explain(error))
        except Exception as fault:
            LOG.exception("unexpected error in a background task of the table session")
            self.end(fault)
