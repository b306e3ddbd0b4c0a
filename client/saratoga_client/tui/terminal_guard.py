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
    kept = deque[logging.LogRecord](maxlen=MOST_KEPT)

    def keep(record: logging.LogRecord) -> bool:
        if record not in kept:  # of several handlers
            kept.append(record)
        return False

    handlers = [each for each in logging.getLogger().handlers if _writes_to_terminal(each)]
    for handler in handlers:
        handler.addFilter(keep)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(keep)
            for record in kept:
                handler.handle(record)


def _writes_to_terminal(handler: logging.Handler) -> bool:
    stream = getattr(handler, "stream", None)
    return stream is not None and hasattr(stream, "isatty") and bool(stream.isatty())


ENDS_WITHIN: Final = 5.0
"""Timeout in seconds for an app's end after a signal; then the process ends at once."""

_ENDS: Final = frozenset({"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"})
SIGNALS: Final = tuple(number for number in signal.Signals if number.name in _ENDS)

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

    Raises `KeyboardInterrupt` after SIGINT from another process, `SystemExit` with the exit code
    128 + N after another signal N, and an unexpected error of the app.
    """
    restore_line_settings = _line_settings()
    loop = asyncio.get_running_loop()
    ended_by: list[int] = []

    def end_at_once() -> NoReturn:
        """End the process without waiting for any thread or task."""
        _leave_screen()
        restore_line_settings()
        os._exit(128 + ended_by[0])

    def handle(number: int, frame: FrameType | None) -> None:
        # this runs between any two steps of the program, not in the event loop, which may hang
        if ended_by:
            end_at_once()
        ended_by.append(number)
        watchdog.start()
        loop.call_soon_threadsafe(app.exit)

    watchdog = Timer(ENDS_WITHIN, end_at_once)
    watchdog.daemon = True
    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        with deferred_logs():
            try:
                result = await app.run_async()
            finally:
                _write(RESET)
                restore_line_settings()
    finally:
        watchdog.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
    # first: a screen that was just opening when the signal came may have had no widgets any more
    if ended_by and ended_by[0] == signal.SIGINT:
        raise KeyboardInterrupt
    if ended_by:
        raise SystemExit(128 + ended_by[0])
    if app.error is not None:
        raise app.error
    return result or 0


def _terminal() -> int | None:
    """Return the descriptor of the terminal that Textual writes to; `None` if there is none."""
    with suppress(OSError, ValueError):
        if sys.__stderr__ is not None and sys.__stderr__.isatty():
            return sys.__stderr__.fileno()
    return None


def _write(sequences: str) -> None:
    """Write to the terminal, past Python's buffers, which a signal handler must not touch."""
    terminal = _terminal()
    if terminal is not None:
        with suppress(OSError):
            os.write(terminal, sequences.encode("ascii"))


def _leave_screen() -> None:
    """Leave Textual's screen; what the thread that paints still writes goes to the null device."""
    terminal = _terminal()
    if terminal is not None:
        with suppress(OSError):
            duplicate = os.dup(terminal)
            os.dup2(os.open(os.devnull, os.O_WRONLY), terminal)
            os.write(duplicate, _LEAVE_AT_ONCE.encode("ascii"))


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
