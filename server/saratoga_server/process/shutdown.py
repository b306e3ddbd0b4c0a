"""Requests to stop the server: by signal, or by the end of standard input."""

import asyncio
import os
import signal
import threading
from contextlib import suppress

from saratoga_server.process.output import STDIN


class Shutdown:
    """Events that are set when the server should stop, and when it should stop at once."""

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.forced = asyncio.Event()
        """Set by the second SIGTERM or SIGINT: stop without draining."""
        self._was_signalled = False

    def listen_for_signals(self) -> None:
        """Handle SIGTERM and SIGINT, and SIGHUP unless it was ignored from the start (`nohup`)."""
        loop = asyncio.get_running_loop()
        for stop_signal in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(stop_signal, self._signalled)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            # SIGHUP never forces: kernel and shell both send one when a terminal is closed
            loop.add_signal_handler(signal.SIGHUP, self.requested.set)

    def listen_for_stdin_eof(self) -> None:
        """Request a shutdown when standard input ends: a pipe whose other end is closed, or a file."""
        loop = asyncio.get_running_loop()
        # a thread, because uvloop aborts the process if standard input is not a pipe
        threading.Thread(target=self._read_stdin, args=(loop,), name="stdin", daemon=True).start()

    def _read_stdin(self, loop: asyncio.AbstractEventLoop) -> None:
        with suppress(OSError):  # a terminal that was closed
            while os.read(STDIN, 1 << 12):
                pass
        with suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(self.requested.set)

    def _signalled(self) -> None:
        if self._was_signalled:
            self.forced.set()
        self._was_signalled = True
        self.requested.set()
