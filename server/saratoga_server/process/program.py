"""Run the server as a program: its log, its limits, its exit code."""

from collections.abc import Callable, Coroutine
from typing import Final

from saratoga_server.config import Config, LogFormat
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

LOG_WRITTEN_WITHIN: Final = 1.0
"""Seconds for the last lines of the log; lines that nobody reads until then are lost."""

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
