"""Requests to stop the server: by signal, or by the end of standard input."""

import asyncio
import signal
import sys


class Shutdown:
    """Whether the server should stop, and whether it should do so at once."""

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
            # never forces: kernel and shell both send it when a terminal is closed
            loop.add_signal_handler(signal.SIGHUP, self.requested.set)

    async def listen_for_stdin_eof(self) -> None:
        """Stop when standard input, which must be a pipe, is closed at its other end."""
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: _EofListener(self.requested), sys.stdin)

    def _signalled(self) -> None:
        if self._was_signalled:
            self.forced.set()
        self._was_signalled = True
        self.requested.set()


class _EofListener(asyncio.Protocol):
    """Sets an event at the end of a pipe; ignores what is read before."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended.set()
