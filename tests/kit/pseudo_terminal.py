"""A pseudo-terminal that runs programs, records everything that they write, and draws their screens.

The test presses keys and reads what is drawn. A window stays open when its program has ended, so a
test can compare the terminal's settings before and after.
"""

import asyncio
import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import pyte

ALTERNATE_SCREENS: Final = frozenset({47, 1047, 1049})
ON_AT_FIRST: Final = frozenset({7, 25})
"""Private modes that a terminal starts with: line wrap (7) and a visible cursor (25)."""

NAMES: Final = {
    1: "cursor keys",
    7: "lines wrap",
    25: "the cursor shows",
    1000: "mouse clicks",
    1002: "mouse drags",
    1003: "mouse motion",
    1004: "focus",
    1006: "mouse as SGR",
    1015: "mouse as urxvt",
    1016: "mouse in pixels",
    1049: "alternate screen",
    2004: "bracketed paste",
    2026: "synchronized output",
    2048: "in-band resize",
}

SEQUENCE: Final = re.compile(
    rb"\x1b\[(?P<mark>[<=>?]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<last>[@-~])"
    rb"|\x1b\](?P<command>[0-9]*);?(?P<words>[^\x07\x1b]*)(?:\x07|\x1b\\)"
    rb"|\x1b[PX^_][^\x1b]*\x1b\\"
    rb"|\x1b(?P<short>[ -/]*[0-Z\\^-~])"
)
"""Matches one control sequence: CSI, OSC, another string, or two or three bytes."""


@dataclass
class TerminalModes:
    """The state of a terminal's modes, updated by output."""

    private: dict[int, bool] = field(default_factory=dict)
    """The present state of every private mode that was set or reset."""
    keyboards: dict[bool, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The stack of keyboard protocols, on the alternate screen (`True`) and on the main screen."""
    pointer: bytes = b""
    """The shape of the mouse pointer, if the program chose one."""
    plain_letters: bool = True
    """True if the next output has the terminal's default colours."""
    keypad: bool = False
    other_keys: bool = False
    ever: set[int] = field(default_factory=set)
    """Private modes that were ever set or reset."""
    draw: Callable[[bytes], None] = lambda data: None
    """Called with the text between sequences, and with sequences that any terminal knows."""
    _rest: bytes = b""

    def feed(self, data: bytes) -> None:
        """Process further output; a control sequence may be split between two calls."""
        data = self._rest + data
        end = 0
        for found in SEQUENCE.finditer(data):
            self.draw(data[end : found.start()])
            end = found.end()
            if found["last"]:
                numbers = [int(number) for number in re.findall(rb"\d+", found["numbers"])]
                self._switch(found["mark"] + found["between"] + found["last"], numbers)
                if found["mark"] in (b"", b"?") and not found["between"]:
                    self.draw(found[0])
            elif found["command"] == b"22":
                self.pointer = b"" if found["words"] in (b"", b"default") else found["words"]
            elif found["short"] in (b"=", b">"):
                self.keypad = found["short"] == b"="
        text, escape, rest = data[end:].partition(b"\x1b")
        self.draw(text)
        self._rest = escape + rest

    def _switch(self, command: bytes, numbers: list[int]) -> None:
        match command:
            case b"?h" | b"?l":
                for mode in numbers:
                    self.private[mode] = command == b"?h"
                    self.ever.add(mode)
            case b">u":
                self._keyboard.append(numbers[0] if numbers else 0)
            case b"<u":
                del self._keyboard[-(numbers[0] if numbers else 1) :]
            case b"=u":
                self._keyboard[-1:] = numbers[:1]
            case b"m":
                self.plain_letters = not numbers or numbers[-1] == 0
            case b">m":
                self.other_keys = len(numbers) > 1 and numbers[1] > 0

    @property
    def _keyboard(self) -> list[int]:
        return self.keyboards[self.on_alternate_screen]

    @property
    def on_alternate_screen(self) -> bool:
        return any(self.private.get(mode) for mode in ALTERNATE_SCREENS)

    @property
    def kept(self) -> list[str]:
        """Return a description of each mode that is not restored; empty after a clean exit."""
        found = [
            f"{NAMES.get(mode, 'a mode')} (?{mode}) is {'on' if on else 'off'}"
            for mode, on in sorted(self.private.items())
            if on != (mode in ON_AT_FIRST)
        ]
        for alternate, pushed in self.keyboards.items():
            if pushed:
                found.append(f"keyboard {pushed} on the {'alternate' if alternate else 'main'}")
        if self.pointer:
            found.append(f"pointer {self.pointer.decode()}")
        if not self.plain_letters:
            found.append("colours")
        if self.keypad:
            found.append("application keypad")
        if self.other_keys:
            found.append("other keys")
        if self._rest:
            found.append(f"half a command: {self._rest!r}")
        return found


SEEN_WITHIN: Final = 60.0
"""Longest time in seconds for anything awaited; a bound that no test should reach."""

CELL_WIDTH, CELL_HEIGHT = 10, 20
"""The size of a cell in pixels."""

_TAKE_TERMINAL: Final = (
    "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
"""Code that makes the terminal the program's controlling terminal, so that Ctrl-C and resizes reach it."""


KEYS: Final = {"Enter": "\r", "Tab": "\t", "Space": " ", "Ctrl-C": "\x03"}
"""The keys that `Window.press` knows beside signs."""

TAKEN: Final = frozenset({25, 1049})
"""Private modes that every full-screen program uses: a hidden cursor (25) and the alternate screen (1049)."""


class Window:
    """A terminal of a given size and the program in it; if `modern` is true, it answers queries."""

    process: asyncio.subprocess.Process

    def __init__(self, columns: int, lines: int, *, modern: bool) -> None:
        self.modern = modern
        self.columns, self.lines = columns, lines
        self.modes = TerminalModes(draw=self._draw)
        self._screens = {on: pyte.Screen(columns, lines) for on in (False, True)}
        """What is drawn on the main screen, and on the alternate one (`True`)."""
        self._streams = {on: pyte.ByteStream(screen) for on, screen in self._screens.items()}
        self.written = bytearray()
        """Everything that the program wrote."""
        self._own, self._theirs = os.openpty()
        os.set_blocking(self._own, False)
        self._more = asyncio.Event()
        self._set_size()
        self.before = self.settings()
        """The settings before the program started."""
        asyncio.get_running_loop().add_reader(self._own, self._read)

    def close(self) -> None:
        """Close the terminal, which hangs up on its program."""
        if self._own >= 0:
            asyncio.get_running_loop().remove_reader(self._own)
            os.close(self._own)
            os.close(self._theirs)
            self._own = -1

    # Input

    async def start(self, *command: str, env: Mapping[str, str | None]) -> None:
        """Run a program in the terminal."""
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-S", "-E", "-c", _TAKE_TERMINAL, *command),
            stdin=self._theirs,
            stdout=self._theirs,
            stderr=self._theirs,
            env=environment(env),
        )

    def press(self, *keys: str) -> None:
        for key in keys:
            self.type(KEYS.get(key, key).encode())

    def enter(self, text: str) -> None:
        """Type a line and press Enter."""
        self.press(text, "Enter")

    def type(self, keys: bytes) -> None:
        """Send input as if from the keyboard or the mouse."""
        os.write(self._own, keys)

    def point(self, button: int, column: int, line: int) -> None:
        """Send a mouse event at a cell, counted from 0, in SGR format; add 32 to the button for a drag."""
        across, down = (CELL_WIDTH, CELL_HEIGHT) if self.modes.private.get(1016) else (1, 1)
        # In pixels: the middle of the cell.
        at = (column * across + across // 2 + 1, line * down + down // 2 + 1)
        self.type(f"\x1b[<{button};{at[0]};{at[1]}M".encode())

    def resize(self, columns: int, lines: int) -> None:
        """Resize the window and notify the program, by signal or in-band as it requested."""
        self.columns, self.lines = columns, lines
        for screen in self._screens.values():
            screen.resize(lines, columns)
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
            for mode in re.findall(rb"\x1b\[\?(2026|2048)\$p", data):
                # 2: known and reset
                self.type(b"\x1b[?%s;2$y" % mode)
        more, self._more = self._more, asyncio.Event()
        more.set()

    def _draw(self, data: bytes) -> None:
        self._streams[self.modes.on_alternate_screen].feed(data)

    @property
    def screen(self) -> str:
        """The lines that are drawn now, without trailing blanks."""
        shown = self._screens[self.modes.on_alternate_screen].display
        return "\n".join(line.rstrip() for line in shown)

    async def wait_for(self, holds: Callable[[], bool]) -> None:
        """Wait until `holds()` is true; it is called whenever the program writes."""
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                while not holds():
                    await self._more.wait()
        except TimeoutError:
            raise AssertionError(f"never seen; the last was\n{self.screen}") from None

    async def until(self, *wanted: str | Callable[[str], bool]) -> str:
        """Wait for the first screen that contains every text and meets every condition; return it.

        The screen may be half drawn: whatever a test expects on it is given here.
        """
        await self.wait_for(
            lambda: all(
                each in self.screen if isinstance(each, str) else each(self.screen)
                for each in wanted
            )
        )
        return self.screen

    async def shows(self, text: str, since: int = 0) -> None:
        """Wait until the program has written the text without a break, at or after byte `since`."""
        wanted = text.encode()
        await self.wait_for(lambda: wanted in self.written[since:])

    async def writes(self) -> None:
        """Wait until the program writes more output."""
        since = len(self.written)
        await self.wait_for(lambda: len(self.written) > since)

    async def ended(self) -> int:
        """Wait for the program to end; return its exit code after reading all output."""
        try:
            async with asyncio.timeout(SEEN_WITHIN):
                code = await self.process.wait()
        except TimeoutError:
            raise AssertionError(f"does not end; the last was\n{self.screen}") from None
        if self._own >= 0:
            self._drain()
        return code

    @property
    def last_words(self) -> str:
        """The text that the program left on the normal screen."""
        said = bytes(self.written).rpartition(b"\x1b[?1049l")[2]
        return said.decode(errors="replace")

    async def given_back(self) -> int:
        """Wait for the program's end; check that the terminal is restored; return the exit code."""
        code = await self.ended()
        assert self.modes.ever >= TAKEN, "the program never took the terminal"
        assert self.modes.kept == [], self.modes.kept
        assert self.settings() == self.before
        return code

    def _drain(self) -> None:
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


def environment(changes: Mapping[str, str | None]) -> dict[str, str]:
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
        **changes,
    }
    kept = {name: value for name, value in os.environ.items() if name not in wanted}
    return kept | {name: value for name, value in wanted.items() if value is not None}


NO_CHANGES: Final[Mapping[str, str | None]] = {}


@asynccontextmanager
async def window(
    *program: str,
    columns: int = 80,
    lines: int = 24,
    modern: bool = True,
    env: Mapping[str, str | None] = NO_CHANGES,
) -> AsyncIterator[Window]:
    """Run a program in a terminal; kill it at the end of the block if it still runs."""
    opened = Window(columns, lines, modern=modern)
    try:
        await opened.start(*program, env=env)
        try:
            yield opened
        finally:
            if opened.process.returncode is None:
                os.killpg(opened.process.pid, signal.SIGKILL)
            await opened.process.wait()
    finally:
        opened.close()


Open: TypeAlias = Callable[..., Awaitable[Window]]
"""A function that runs a program in a new window, with options of `window`."""


@asynccontextmanager
async def windows() -> AsyncIterator[Open]:
    """Yield a function that opens windows; all are closed at the end of the block."""
    async with AsyncExitStack() as stack:

        async def opened(*program: str, **options: Any) -> Window:
            return await stack.enter_async_context(window(*program, **options))

        yield opened
