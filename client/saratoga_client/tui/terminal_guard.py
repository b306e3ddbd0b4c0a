"""Restore the terminal at every end of the program, including signals and errors.

`run` runs an app. The first signal ends the app in order. A second signal, or an app that does not
end in time, ends the process at once. After SIGKILL, which no program can catch, the shell command
`reset` restores the terminal.
"""

import asyncio
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from threading import Timer
from types import FrameType
from typing import Final, NoReturn

from rich.console import Console
from textual.app import App

MOST_KEPT: Final = 20
"""Maximum number of log records that are held back while the screen is open; the oldest are dropped."""


@contextmanager
def deferred_logs() -> Iterator[None]:
    """Hold back what the root logger writes to a terminal, where it would overwrite the board; write it at the end."""
    root, kept = logging.getLogger(), deque[logging.LogRecord](maxlen=MOST_KEPT)
    writers = [handler for handler in root.handlers if _writes_to_terminal(handler)]

    def keep(record: logging.LogRecord) -> bool:
        if record not in kept:  # of several handlers
            kept.append(record)
        return False

    for writer in writers:
        writer.addFilter(keep)
    try:
        yield
    finally:
        for writer in writers:
            writer.removeFilter(keep)
        for record in kept:
            for writer in writers:
                writer.handle(record)


def _writes_to_terminal(handler: logging.Handler) -> bool:
    stream = handler.stream if isinstance(handler, logging.StreamHandler) else None
    try:
        return stream is not None and stream.isatty()
    except (AttributeError, ValueError):
        return False


ENDS_WITHIN: Final = 5.0
"""Timeout in seconds for an app's end after a signal; then the process ends at once."""

SIGNALS: Final = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if (number := getattr(signal, name, None)) is not None
)

_OFF: Final = (1000, 1002, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 2048)
"""Private modes of a terminal that are off by default (xterm's ctlseqs)."""

RESET: Final = (
    "".join(f"\x1b[?{mode}l" for mode in _OFF) + "\x1b]22;default\x07" + "\x1b[?7h\x1b[?25h\x1b[m"
)
"""Sequences that reset the terminal at the end.

Textual sends most of them too. But Textual leaves the mouse in pixel mode, and it enables resize
reports again if the terminal's answer arrives during the exit.
"""

_LEAVE_AT_ONCE: Final = "\x1b[<u\x1b[?1049l" + RESET
"""`RESET`, preceded by the sequences that leave Textual's screen."""


class TerminalApp(App[int]):
    """An app that keeps an unexpected error for `run` and prints no stack trace on the terminal."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.error: BaseException | None = None
        """The first unexpected error; it ends the app."""
        # Textual prints its stack trace, with the values of local variables, to this console.
        self.error_console = Console(file=StringIO())

    def bell(self) -> None:
        """Ring the bell, and keep the error being handled: Textual calls this for unexpected errors."""
        if self.error is None:
            self.error = sys.exc_info()[1]
        super().bell()


async def run(app: TerminalApp) -> int:
    """Run an app until it ends; return the app's result, or 0 if it has none.

    Raises `KeyboardInterrupt` after SIGINT from another process, `SystemExit` with the exit code 128 +
    N after another signal N, and an unexpected error of the app.
    """
    with deferred_logs():
        result, ended_by = await _run(app)
    if app.error is not None:
        raise app.error
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt
    if ended_by is not None:
        raise SystemExit(128 + ended_by)
    return result or 0


async def _run(app: TerminalApp) -> tuple[int | None, int | None]:
    """Return the app's result, and the signal that ended it."""
    restore_line_settings = _line_settings()
    loop = asyncio.get_running_loop()

    def end() -> None:
        loop.call_soon_threadsafe(app.exit)

    with _screen_leaver() as leave, _handled_signals(end, leave, restore_line_settings) as ended_by:
        try:
            result = await app.run_async()
        finally:
            # Signals are still handled here.
            _write(RESET)
            restore_line_settings()
    return result, ended_by[0] if ended_by else None


@contextmanager
def _handled_signals(
    end: Callable[[], object], leave: Callable[[], None], restore_line_settings: Callable[[], None]
) -> Iterator[list[int]]:
    """Handle signals: the first one ends the app. Yield the list that receives its number.

    The handlers run between any two steps of the program, not in the event loop, which may hang.
    """
    ended_by: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        if ended_by:
            _end_at_once(leave, restore_line_settings, ended_by[0])
        ended_by.append(number)
        watchdog.start()
        end()

    watchdog = Timer(ENDS_WITHIN, lambda: _end_at_once(leave, restore_line_settings, ended_by[0]))
    watchdog.daemon = True
    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield ended_by
    finally:
        watchdog.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_at_once(
    leave: Callable[[], None], restore_line_settings: Callable[[], None], number: int
) -> NoReturn:
    """End the process without waiting for any thread or task."""
    leave()
    restore_line_settings()
    os._exit(128 + number)


@contextmanager
def _screen_leaver() -> Iterator[Callable[[], None]]:
    """Yield a function that leaves Textual's screen and blocks all further painting.

    Textual paints from a separate thread, whose remaining output goes to the null device.
    """
    terminal = sys.__stderr__
    if terminal is None or not terminal.isatty():
        yield lambda: None
        return
    painted = terminal.fileno()
    duplicate, null = os.dup(painted), os.open(os.devnull, os.O_WRONLY)

    def leave() -> None:
        with suppress(OSError):
            os.dup2(null, painted)
            os.write(duplicate, _LEAVE_AT_ONCE.encode("ascii"))

    try:
        yield leave
    finally:
        os.close(duplicate)
        os.close(null)


def _write(sequences: str) -> None:
    """Write to the terminal that Textual writes to, if it is still there.

    This bypasses Python's buffers, which a signal handler must not touch.
    """
    terminal = sys.__stderr__
    with suppress(OSError, ValueError):
        if terminal is not None and terminal.isatty():
            os.write(terminal.fileno(), sequences.encode("ascii"))


def _line_settings() -> Callable[[], None]:
    """Return a function that restores the terminal's present line settings (`stty -a`)."""
    if sys.platform == "win32":
        return lambda: None
    import termios

    try:
        descriptor = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
        before = termios.tcgetattr(descriptor)
    except (OSError, ValueError, termios.error):
        return lambda: None

    def restore() -> None:
        with suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)

    return restore
