"""Run the server as a program: its log, event loop, limits and exit code."""

import asyncio
import gc
import resource
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from saratoga_server.config import EXPOSURE_WARNING, Config, LogFormat, StartupError
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.metrics import Metrics
from saratoga_server.process.log_writer import LogWriter
from saratoga_server.process.output import (
    STDERR,
    drop_unwritable_output,
    open_closed_descriptors,
)

LOG_WRITTEN_WITHIN: Final = 1.0
"""Seconds for the last lines of the log; lines that nobody reads until then are lost."""

THREAD_SWITCH_INTERVAL: Final = 0.001
"""The longest time that a worker thread may delay the event loop, in seconds."""

THREADS: Final = 6
"""The number of worker threads: for results, replays and files; one waits for the embedded store."""

THREADS_START_WITHIN: Final = 5.0
"""Seconds for these threads to start."""

YOUNGEST: Final = 10_000
"""Allocations before the youngest generation is collected, which takes half a millisecond."""

OLDER: Final = 20
"""Collections of a generation before the next older one is collected."""

log = EventLog("server")

Serve = Callable[[Config, Metrics], Coroutine[None, None, None]]


def run_program(config: Config, serve: Serve, expected_errors: tuple[type[Exception], ...]) -> None:
    """Run `serve` until it returns. After an error print its text and raise `SystemExit`.

    An error that is not expected is logged too, with the place where it was raised.
    """
    open_closed_descriptors()
    metrics = Metrics(config.node)
    log_writer = LogWriter(STDERR, metrics)
    set_up_logs(
        as_json=config.log_format is LogFormat.JSON,
        level=config.log_level,
        node=config.node,
        stream=log_writer,
    )
    if config.is_password_exposed:
        log.warning("password_exposed", text=EXPOSURE_WARNING)
    collect_rarely()
    raise_open_file_limit()

    try:
        run_event_loop(serve(config, metrics))
    except expected_errors as error:
        log_writer.write(f"Error: {error}\n")
        raise SystemExit(1) from None
    except Exception as error:
        log.error("server_fault", fault=error)
        log_writer.write(f"Error: The server cannot run: {error}. The line above says where.\n")
        raise SystemExit(1) from None
    finally:
        log_writer.close(LOG_WRITTEN_WITHIN)
        drop_unwritable_output()


def run_event_loop(work: Coroutine[None, None, None]) -> None:
    """Run `work` until it returns, on uvloop if it is installed."""
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL)
    try:
        threads = started_threads()
    except StartupError:
        work.close()
        raise
    work = _with_threads(work, threads)
    try:
        import uvloop  # optional: not built for every system
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)


async def _with_threads(work: Coroutine[None, None, None], threads: ThreadPoolExecutor) -> None:
    asyncio.get_running_loop().set_default_executor(threads)
    await work


def started_threads() -> ThreadPoolExecutor:
    """Return the event loop's worker threads, all running: to start one later may block the loop for ever.

    Raises `StartupError` if the system does not start them.
    """
    threads, running = ThreadPoolExecutor(THREADS, "worker"), threading.Barrier(THREADS + 1)
    try:
        for _ in range(THREADS):
            threads.submit(running.wait, THREADS_START_WITHIN)
        running.wait(THREADS_START_WITHIN)
    except (RuntimeError, threading.BrokenBarrierError) as error:
        raise StartupError(
            f"The system starts no further thread ({error}). Raise the limits on memory and processes."
        ) from None
    return threads


def raise_open_file_limit() -> None:
    """Raise the soft limit on open files, 1,024 on most systems, to the hard limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # macOS reports no hard limit, and refuses a soft limit of that size
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def collect_rarely() -> None:
    """Turn Python's garbage collector on, with higher thresholds than its own.

    With 900 players and Python's defaults, full collections blocked the event loop for 150 to 220 ms
    every fifteen seconds, and took 5 % of the CPU time.
    """
    gc.set_threshold(YOUNGEST, OLDER, OLDER)
    gc.enable()


def freeze_startup_objects() -> None:
    """Exempt all present objects from collection: modules live as long as the process.

    After the start, 300 of 60,000 objects are garbage; collecting them would take 40 ms.
    """
    gc.freeze()
