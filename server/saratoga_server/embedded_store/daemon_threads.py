"""Blocking work in threads that may be left behind: a disk that hangs must not keep the process from ending.

asyncio waits at its end for the threads of `asyncio.to_thread`, without a limit.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

_Result = TypeVar("_Result")


async def in_daemon_thread(work: Callable[[], _Result]) -> _Result:
    """Return or raise what `work` does in a thread of its own; a cancellation leaves the thread behind."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_Result] = loop.create_future()

    def succeed(result: _Result) -> None:
        if not future.done():
            future.set_result(result)

    def fail(fault: Exception) -> None:
        if not future.done():
            future.set_exception(fault)

    def run() -> None:
        with suppress(RuntimeError):  # the loop has ended before
            try:
                result = work()
            except Exception as fault:  # any error: it is the caller's
                loop.call_soon_threadsafe(fail, fault)
            else:
                loop.call_soon_threadsafe(succeed, result)

    threading.Thread(target=run, daemon=True).start()
    return await future
