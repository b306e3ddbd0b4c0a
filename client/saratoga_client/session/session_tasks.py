"""What goes on beside everything else at a table, and how it all ends together.

BackgroundTasks begin in the order in which they are given; the first that goes wrong ends the evening.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from saratoga_client.session.error_messages import CONNECTION_ERRORS

LOG: Final = logging.getLogger("saratoga.racing")


class SessionTasks:
    """The tasks of one evening."""

    def __init__(self, in_words: Callable[[Exception], Exception]) -> None:
        """`in_words` says what has come between the player and the house."""
        self._in_words = in_words
        self._tasks: set[asyncio.Task[None]] = set()
        self._end: asyncio.Future[None] | None = None
        """Done when there is nothing more to attend to; carries what went wrong."""

    def open(self) -> None:
        """From now on the evening can end."""
        self._end = asyncio.get_running_loop().create_future()

    def begin(self, chore: Coroutine[Any, Any, None]) -> None:
        """Do something beside everything else."""
        task = asyncio.get_running_loop().create_task(self._guarded(chore))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # what is stopped before its first step never began, and would be missed
        task.add_done_callback(lambda _: chore.close())

    def finish(self, trouble: Exception | None = None) -> None:
        """There is nothing more to attend to; only the first word on it counts."""
        if self._end is None or self._end.done():
            return
        if trouble is None:
            self._end.set_result(None)
        else:
            self._end.set_exception(trouble)

    async def until_the_end(self) -> None:
        """Wait for the end; raises what went wrong."""
        assert self._end is not None, "the evening has not been opened"
        await self._end

    async def stop(self) -> None:
        """Nothing goes on any more when this is done."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(self, chore: Coroutine[Any, Any, None]) -> None:
        try:
            await chore
        except CONNECTION_ERRORS as trouble:
            self.finish(self._in_words(trouble))
        except Exception as fault:
            LOG.exception("a fault while attending the table")
            self.finish(fault)
