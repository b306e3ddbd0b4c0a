"""The thread that writes the log, so that a log that nobody reads never blocks the event loop.

A pipe to a pager, a terminal after Ctrl-S and a journal that hangs take no more bytes, and a write
to them blocks. `logging.handlers.QueueListener` is not used, because it can be neither stopped
within a time nor left behind: `logging` waits at exit for the lock of a handler that is blocked.
"""

import threading
from typing import Final

from saratoga_server.logs import EventLog
from saratoga_server.metrics import Metrics
from saratoga_server.process.output import write_all

LIMIT: Final = 10_000
"""Lines that may wait to be written; further lines are dropped and counted."""

log = EventLog("server")


class LogWriter:
    """A stream for the log: `write` never blocks, and a thread writes the lines in their order.

    Lines that are dropped, because too many wait or because the disk is full, are reported by the event
    `log_lines_dropped` as soon as lines can be written again, and counted by `Metrics.log_lines_dropped`.
    """

    def __init__(self, descriptor: int, metrics: Metrics) -> None:
        self._descriptor = descriptor
        self._metrics = metrics
        self._changed = threading.Condition()
        """Guards all fields; notified when the thread has something to do."""
        self._lines: list[str] = []
        self._unreported = 0
        """Dropped lines that no event has reported yet."""
        self._is_failing = False
        """True if the last line could not be written."""
        self._is_closed = False
        # a daemon, because the thread may be blocked for ever when the process ends
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def write(self, line: str) -> None:
        """Write a line soon, or drop it."""
        # after a dropped line the next one is its report, which this object's thread writes
        is_report = threading.current_thread() is self._thread
        with self._changed:
            if is_report or (len(self._lines) < LIMIT and not self._reportable()):
                self._lines.append(line)
                self._changed.notify()
            else:
                self._drop()

    def close(self, within: float) -> None:
        """Wait until all lines are written, but no longer than `within` seconds."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(within)

    def _drop(self) -> None:
        self._unreported += 1
        self._metrics.log_lines_dropped.inc()

    def _run(self) -> None:
        while (lines := self._next_lines()) is not None:
            for line in lines:
                self._write(line)

    def _next_lines(self) -> list[str] | None:
        """Wait for lines and return them; return `None` after the last one."""
        with self._changed:
            self._changed.wait_for(lambda: self._lines or self._is_closed or self._reportable())
            lines, self._lines = self._lines, []
            dropped = self._reportable()
        if dropped:
            log.error("log_lines_dropped", count=dropped)
            with self._changed:
                self._unreported -= dropped
        return lines if lines or dropped else None

    def _reportable(self) -> int:
        return 0 if self._is_failing else self._unreported

    def _write(self, line: str) -> None:
        try:
            write_all(self._descriptor, line.encode(errors="backslashreplace"))
        except OSError:  # a full disk, or a reader that has gone
            with self._changed:
                self._is_failing = True
                self._drop()
        else:
            self._is_failing = False
