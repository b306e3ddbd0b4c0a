"""Run the server as a program: its log, event loop, limits, and notes to parent and systemd."""

import asyncio
import gc
import os
import queue
import resource
import select
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final

from saratoga_server.background_tasks import pause
from saratoga_server.config import EXPOSURE_WARNING, Config, StartupError
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.metrics import Metrics

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2

LOG_LIMIT: Final = 10_000
"""Lines of the log that may wait to be written; further lines are dropped and counted."""
LOG_WRITTEN_WITHIN: Final = 1.0
"""Seconds for the last lines of the log; lines that nobody reads until then are lost."""

READY_LINE: Final = "saratoga-server ready "
"""The beginning of the ready line on standard output; the address follows."""
READY_WRITTEN_WITHIN: Final = 0.1
"""Seconds for which the server waits for the line to be written: a pipe may have no reader."""

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"
WATCHDOG: Final = "WATCHDOG=1"

THREAD_SWITCH_INTERVAL: Final = 0.001
"""The longest time that a worker thread may delay the event loop, in seconds."""

THREADS: Final = 6
"""The number of worker threads: for results, replays, files; one waits for the store."""

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
    metrics = Metrics(config.node)
    log_writer = LogWriter(STDERR, metrics.log_lines_dropped.inc)
    set_up_logs(
        as_json=config.log_format == "json",
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
    """Return the loop's worker threads, all running: to start one later may block it for ever.

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

    With 900 players and Python's defaults, full collections blocked the event loop for 150 to 220
    ms every fifteen seconds, and took 5 % of the CPU time.
    """
    gc.set_threshold(YOUNGEST, OLDER, OLDER)
    gc.enable()


@contextmanager
def cannot_listen(what: str, remedy: str) -> Iterator[None]:
    """Turn an `OSError` from opening a socket into a `StartupError`."""
    try:
        yield
    except (OSError, UnicodeError) as error:  # a host name that cannot be encoded
        reason = getattr(error, "strerror", None) or error
        raise StartupError(f"{what} cannot be opened ({reason}). {remedy}") from None


# The log, and other output: nobody may read it, or its disk may be full


class LogWriter:
    """A stream for the log whose `write` never blocks: a thread writes the lines in their order.

    A pipe to a pager, a terminal after Ctrl-S and a journal that hangs take no more bytes, and a
    write to them blocks. `logging.handlers.QueueListener` is not used, because it can be neither
    stopped within a time nor left behind: `logging` waits at exit for the lock of a handler that is
    blocked.
    """

    def __init__(self, descriptor: int, on_dropped: Callable[[], None]) -> None:
        """`on_dropped` is called for each line that is lost: too many wait, or the disk is full."""
        self._descriptor = descriptor
        self._on_dropped = on_dropped
        self._lines: queue.Queue[str | None] = queue.Queue(LOG_LIMIT)
        """The lines that wait; `None` ends the thread."""
        # a daemon, because the thread may be blocked for ever when the process ends
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Write a line soon, or drop it."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self._on_dropped()

    def close(self, within: float) -> None:
        """Wait until all lines are written, but no longer than `within` seconds."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(within)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                _write_all(self._descriptor, line.encode(errors="backslashreplace"))
            except OSError:  # a full disk, or a reader that has gone
                self._on_dropped()


def _write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes; blocks until they are written. Raises `OSError`."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # another process that shares the pipe has made it non-blocking
            select.select([], [descriptor], [])


def drop_unwritable_output() -> None:
    """Flush the output; drop it if its terminal is closed or its disk is full.

    Otherwise Python would try to flush it at exit, and end with exit code 120.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # the output was closed from the start
            continue
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


# What the server tells the program that started it, and systemd


async def announce(address: str, descriptor: int = STDOUT) -> None:
    """Print the ready line, and notify systemd."""

    def print_line() -> None:
        try:
            # unbuffered, because a failed buffered write would be flushed, and fail, again at exit
            _write_all(descriptor, f"{READY_LINE}{address}\n".encode())
        except OSError as error:
            # a closed terminal or a full disk; players can connect nevertheless
            log.warning("ready_line_failed", text=str(error))

    printing = asyncio.get_running_loop().run_in_executor(None, print_line)
    # not cancelled, or a busy machine would lose the line for which the parent process waits
    await asyncio.wait([printing], timeout=READY_WRITTEN_WITHIN)
    notify(READY)


def notify(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Send a state to the socket named by `$NOTIFY_SOCKET`; ignore a failure."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    if address.startswith("@"):  # the abstract namespace: no file
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
        sender.setblocking(False)
        sender.sendto(state.encode(), address)


def watchdog_seconds(environment: Mapping[str, str] = os.environ) -> float | None:
    """Return the unit's `WatchdogSec=`; `None` if it has none, or if it is for another process."""
    if environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    microseconds = environment.get("WATCHDOG_USEC", "")
    seconds = int(microseconds) / 1_000_000 if microseconds.isdecimal() else 0.0
    return seconds or None


async def feed_watchdog(environment: Mapping[str, str] = os.environ) -> None:
    """Notify systemd twice per `WatchdogSec=` that the event loop runs; never return."""
    seconds = watchdog_seconds(environment)
    while seconds is not None:
        notify(WATCHDOG, environment)
        await pause(seconds / 2)
    await asyncio.Event().wait()
