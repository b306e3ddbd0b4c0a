"""When to stop: told once, in order; told again, at once."""

import asyncio
import signal
import sys
from collections.abc import Callable
from typing import Final

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

STOP_WITHIN: Final = 20.0
"""Seconds for an orderly end; then the process ends all the same."""


class Stop:
    """Whether this process is to end, and how soon."""

    def __init__(self) -> None:
        self.wanted = asyncio.Event()
        self.at_once = asyncio.Event()
        """Somebody has asked twice."""
        self.unannounced = False
        """No balancer has to notice first: others take over here, or nobody is left to ask."""
        self._asked = False

    def ask(self) -> None:
        """End in order; said again, at once."""
        if self._asked:
            self.at_once.set()
        self._asked = True
        self.wanted.set()

    def retire(self) -> None:
        """End in order, and without an announcement."""
        self.unannounced = self.unannounced or not self.wanted.is_set()
        self.wanted.set()

    def hear_signals(self) -> None:
        """Have SIGTERM and SIGINT ask."""
        loop = asyncio.get_running_loop()
        for sign in STOP_SIGNALS:
            loop.add_signal_handler(sign, self.ask)

    def hear_hangup(self) -> None:
        """Have the end of the terminal ask, unless whoever started us said not to mind (nohup)."""
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self.retire)

    async def hear_input(self) -> None:
        """Have the end of the standard input ask."""
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: _AtEnd(self.retire), sys.stdin)


class _AtEnd(asyncio.Protocol):
    """Waits for the end of a pipe; what comes before it is for nobody."""

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def connection_lost(self, exc: Exception | None) -> None:
        self._then()
