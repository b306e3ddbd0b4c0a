"""A pseudo-terminal that runs programs and records everything that they write.

A `PseudoTerminal` stays open between programs, so a test can compare its settings before and after one.
"""

import asyncio
import fcntl
import os
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from kit.terminal_bytes import TerminalModes, questions

SEEN_WITHIN: Final = 30.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

CELL_WIDTH, CELL_HEIGHT = 10, 20
"""The size of a cell in pixels."""

_TAKE_TERMINAL: Final = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Code that makes the terminal the program's controlling terminal, so that Ctrl-C and resizes reach it."""


class PseudoTerminal:
    """A terminal window of a given size; if `modern` is true, it answers queries."""

    def __init__(self, columns: int = 80, lines: int = 24, *, modern: bool = True) -> None:
        self.modern = modern
        self.columns, self.lines = columns, lines
        self.modes = TerminalModes()
        self.written = bytearray()
        """Everything that the program wrote."""
        self._own, self._theirs = os.openpty()
        os.set_blocking(self._own, False)
        self._more = asyncio.Event()
        self._set_size()
        asyncio.get_running_loop().add_reader(self._own, self._read)

    def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self._own)
        os.close(self._own)
        os.close(self._theirs)

    # Input

    @asynccontextmanager
    async def running(
        self, *command: str, env: Mapping[str, str | None] | None = None
    ) -> AsyncIterator[asyncio.subprocess.Process]:
        """Run a program; kill it at the end of the block if it still runs."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-S", "-E", "-c", _TAKE_TERMINAL, *command),
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=environment(env),
        )
        try:
            yield process
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def type(self, keys: bytes) -> None:
        """Send input as if from the keyboard or the mouse."""
        os.write(self._own, keys)

    def point(self, button: int, column: int, line: int, *, released: bool = False) -> None:
        """Send a mouse event at a cell, counted from 0, in SGR format; add 32 to the button for a drag."""
        across, down = (CELL_WIDTH, CELL_HEIGHT) if self.modes.private.get(1016) else (1, 1)
        # In pixels: the middle of the cell.
        at = (column * across + across // 2 + 1, line * down + down // 2 + 1)
        last = "m" if released else "M"
        self.type(f"\x1b[<{button};{at[0]};{at[1]}{last}".encode())

    def resize(self, columns: int, lines: int) -> None:
        """Resize the window and notify the program, by signal or in-band as it requested."""
        self.columns, self.lines = columns, lines
        self._set_size()
        if self.modes.private.get(2048):
            self._report_size()

    def _report_size(self) -> None:
        lines, columns = self.lines, self.columns
        # The same in pixels.
        size = (lines, columns, lines * CELL_HEIGHT, columns * CELL_WIDTH)
        self.type(b"\x1b[48;%d;%d;%d;%dt" % size)

    def _set_size(self) -> None:
        fcntl.ioctl(
            self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", self.lines, self.columns, 0, 0)
        )

    # Output

    def _read(self) -> None:
        try:
            data = os.read(self._own, 1 << 16)
        except (BlockingIOError, OSError):
            return
        self.written += data
        reported = self.modes.private.get(2048)
        self.modes.feed(data)
        if self.modes.private.get(2048) and not reported:
            # A program that requests reports gets one at once.
            self._report_size()
        if self.modern:
            for answer in questions(data):
                self.type(answer)
        more, self._more = self._more, asyncio.Event()
        more.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds()` is true; it is called whenever the program writes."""
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                while not holds():
                    await self._more.wait()
        except TimeoutError:
            raise AssertionError(
                f"never seen; the last was {bytes(self.written[-2000:])!r}"
            ) from None

    async def shows(self, text: str, since: int = 0) -> None:
        """Wait until the program has written the text without a break, at or after byte `since`."""
        wanted = text.encode()
        await self.until(lambda: wanted in self.written[since:])

    async def writes(self) -> None:
        """Wait until the program writes more output."""
        since = len(self.written)
        await self.until(lambda: len(self.written) > since)

    async def ended(self, process: asyncio.subprocess.Process) -> int:
        """Wait for the program to end; return its exit code after reading all output."""
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                code = await process.wait()
        except TimeoutError:
            raise AssertionError(
                f"does not end; the last was {bytes(self.written[-2000:])!r}"
            ) from None
        self.drain()
        return code

    def drain(self) -> None:
        """Read all output that is available."""
        size = -1
        while size != len(self.written):
            size = len(self.written)
            self._read()

    def settings(self) -> str:
        """Return the output of `stty -a`: the state of the line discipline."""
        stty = subprocess.run(
            ["stty", "-a"], stdin=self._theirs, capture_output=True, text=True, check=True
        )
        return stty.stdout


def environment(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return the environment for a program in a true-colour terminal; `None` removes a name."""
    wanted: dict[str, str | None] = {
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LC_ALL": "C.UTF-8",
        "TERM_PROGRAM": None,
        "NO_COLOR": None,
        "TMUX": None,
        "COLUMNS": None,
        "LINES": None,
        **(changes or {}),
    }
    kept = {name: value for name, value in os.environ.items() if name not in wanted}
    return kept | {name: value for name, value in wanted.items() if value is not None}


@asynccontextmanager
async def open_terminal(
    columns: int = 80, lines: int = 24, *, modern: bool = True
) -> AsyncIterator[PseudoTerminal]:
    """Open a terminal of this size; close it at the end of the block."""
    terminal = PseudoTerminal(columns, lines, modern=modern)
    try:
        yield terminal
    finally:
        terminal.close()
