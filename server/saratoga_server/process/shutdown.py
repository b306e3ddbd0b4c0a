"""Requests to stop the server: by signal, or by the end of standard input."""

import asyncio
import signal
import sys


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

    async def listen_for_stdin_eof(self) -> None:
        """Request a shutdown when the other end of standard input, a pipe, is closed."""
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: _EofListener(self.requested), sys.stdin)

    def _signalled(self) -> None:
        if self._was_signalled:
            self.forced.set()
        self._was_signalled = True
        self.requested.set()


class _EofListener(asyncio.Protocol):
    """A protocol that sets an event when a pipe is closed, and ignores data."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()
