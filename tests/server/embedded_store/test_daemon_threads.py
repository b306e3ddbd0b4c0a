"""Threads that may be left behind."""

import subprocess
import sys

import pytest

from saratoga_server.embedded_store.daemon_threads import in_daemon_thread

HANGING = """
import asyncio, threading
from contextlib import suppress
from saratoga_server.embedded_store.daemon_threads import in_daemon_thread

async def main():
    work = asyncio.create_task(in_daemon_thread(threading.Event().wait))
    await asyncio.sleep(0)
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work

asyncio.run(main())
"""


async def test_the_result_and_the_error_are_those_of_the_work() -> None:
    assert await in_daemon_thread(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        await in_daemon_thread(lambda: 1 // 0)


def test_a_process_ends_although_a_thread_hangs() -> None:
    subprocess.run([sys.executable, "-c", HANGING], check=True, timeout=20)
