"""Run the server as a program: its log, its limits, its exit code."""

import os
import threading
from collections.abc import Callable, Coroutine
from typing import Final

from saratoga_server.config import EXPOSURE_WARNING, Config, LogFormat
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.metrics.counters import Metrics
from saratoga_server.process.event_loop import run_event_loop
from saratoga_server.process.file_limits import raise_open_file_limit
from saratoga_server.process.garbage_collection import collect_rarely
from saratoga_server.process.log_writer import LogWriter
from saratoga_server.process.output import (
    STDERR,
    drop_unwritable_output,
    open_closed_descriptors,
)
from saratoga_server.process.shutdown import ABORT_WITHIN

LOG_WRITTEN_WITHIN: Final = 1.0
"""Seconds for the last lines of the log; lines that nobody reads until then are lost."""

THREADS_END_WITHIN: Final = ABORT_WITHIN
"""Seconds from the end of `serve` to the end of the process, although a thread may hang at its disk."""

log = EventLog("server")

Serve = Callable[[Config, Metrics], Coroutine[None, None, None]]


def run_program(config: Config, serve: Serve, expected_errors: tuple[type[Exception], ...]) -> None:
    """Run `serve` until it returns. After an error print its text and raise `SystemExit`.

    An error that is not expected is logged too, with the place where it was raised.
    """
    open_closed_descriptors()
    metrics = Metrics()
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

    def end_without_threads(error: Exception | None) -> None:
        log.error("server_threads_hang")
        if error is not None:
            report(error)
        log_writer.close(LOG_WRITTEN_WITHIN)
        os._exit(0 if error is None else 1)

    def report(error: Exception) -> None:
        if isinstance(error, expected_errors):
            log_writer.write(f"Error: {error}\n")
        else:
            log.error("server_fault", fault=error)
            log_writer.write(f"Error: The server cannot run: {error}. The line above says where.\n")

    limit = _Limit(end_without_threads)
    try:
        run_event_loop(limit.after(serve(config, metrics)))
    except Exception as error:
        report(error)
        raise SystemExit(1) from None
    finally:
        limit.cancel()
        log_writer.close(LOG_WRITTEN_WITHIN)
        drop_unwritable_output()


class _Limit:
    """Ends the process some time after its work, because asyncio waits for its threads without a limit."""

    def __init__(self, end: Callable[[Exception | None], None]) -> None:
        self._end = end
        self._timer: threading.Timer | None = None

    async def after(self, work: Coroutine[None, None, None]) -> None:
        """Return or raise what `work` does, and begin to count."""
        try:
            await work
        except Exception as error:
            self._begin(error)
            raise
        self._begin(None)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _begin(self, error: Exception | None) -> None:
        self._timer = threading.Timer(THREADS_END_WITHIN, self._end, [error])
        self._timer.daemon = True
        self._timer.start()
