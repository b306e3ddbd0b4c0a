"""Giving the terminal back as it was, however the program ends.

`run` is how an app is run: a signal ends it in order; a second one, or an app that does not end,
at once. SIGKILL can be caught by nobody: after it, `reset` is what helps.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from types import FrameType
from typing import Final, NoReturn

from textual.app import App

from saratoga_client.tui.deferred_log import said_later

ENDS_WITHIN: Final = 5.0
"""Seconds for an app to end in order after it was told to; then it is ended without order."""

SIGNALS: Final = tuple(
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    if (number := getattr(signal, name, None)) is not None
)

_OFF: Final = (1000, 1002, 1003, 1004, 1006, 1015, 1016, 2004, 2026, 2048)
"""Private modes of a terminal that are off wherever nobody wants them (xterm's ctlseqs)."""

FAREWELL: Final = (
    "".join(f"\x1b[?{mode}l" for mode in _OFF) + "\x1b]22;default\x07" + "\x1b[?7h\x1b[?25h\x1b[m"
)
"""What is said to the terminal at the end. Textual says most of it too, but leaves the mouse counting
pixels, and switches resizes on again if the terminal's answer comes while it leaves.
"""

_LEAVE_AT_ONCE: Final = "\x1b[<u\x1b[?1049l" + FAREWELL
"""As `FAREWELL`, where Textual had no time to leave its screen."""


class TerminalApp(App[int]):
    """An app whose faults are told by `run`, not in a stack trace on the player's terminal."""

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()


def run(app: App[int]) -> int:
    """Run an app until it ends; returns its result, 0 without one.

    Raises `KeyboardInterrupt` after Ctrl-C from outside, `SystemExit` after another signal (128 and
    the signal's number, as shells have it), and whatever went wrong inside the app.
    """
    with said_later():
        result, ended_by = asyncio.run(_run(app))
    fault = app._exception  # noqa: SLF001 - Textual tells only its own tests
    if fault is not None:
        raise fault
    if ended_by == signal.SIGINT:
        raise KeyboardInterrupt
    if ended_by is not None:
        raise SystemExit(128 + ended_by)
    return result or 0


async def _run(app: App[int]) -> tuple[int | None, int | None]:
    """The app's result, and the signal that ended it."""
    settings = _settings()
    loop = asyncio.get_running_loop()

    def end() -> None:
        loop.call_soon_threadsafe(app.exit)

    with _last_word() as leave, _heeding(end, leave, settings) as ended_by:
        try:
            result = await app.run_async()
        finally:
            # while signals are still heeded
            _say(FAREWELL)
            settings()
    return result, ended_by[0] if ended_by else None


@contextmanager
def _heeding(
    end: Callable[[], object], leave: Callable[[], None], settings: Callable[[], None]
) -> Iterator[list[int]]:
    """Heed signals: the first one ends the app; yields where it will stand.

    They are heeded between any two steps of the program, not by the loop, which may be what hangs.
    """
    ended_by: list[int] = []

    def heed(number: int, frame: FrameType | None) -> None:
        if ended_by:
            _end_at_once(leave, settings, ended_by[0])
        ended_by.append(number)
        watchdog.start()
        end()

    watchdog = Timer(ENDS_WITHIN, lambda: _end_at_once(leave, settings, ended_by[0]))
    watchdog.daemon = True
    before = {number: signal.signal(number, heed) for number in SIGNALS}
    try:
        yield ended_by
    finally:
        watchdog.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_at_once(leave: Callable[[], None], settings: Callable[[], None], number: int) -> NoReturn:
    """Without waiting for anybody."""
    leave()
    settings()
    os._exit(128 + number)


@contextmanager
def _last_word() -> Iterator[Callable[[], None]]:
    """What leaves the terminal's other screen so that nothing can be painted any more.

    Textual paints from a thread of its own, which may have more to say: it says that to nobody.
    """
    terminal = sys.__stderr__
    if terminal is None or not terminal.isatty():
        yield lambda: None
        return
    painted = terminal.fileno()
    ours, nobody = os.dup(painted), os.open(os.devnull, os.O_WRONLY)

    def leave() -> None:
        with suppress(OSError):
            os.dup2(nobody, painted)
            os.write(ours, _LEAVE_AT_ONCE.encode("ascii"))

    try:
        yield leave
    finally:
        os.close(ours)
        os.close(nobody)


def _say(words: str) -> None:
    """Write to the terminal that Textual writes to, if it is still there.

    Past Python's buffers, which must not be touched from within a signal.
    """
    terminal = sys.__stderr__
    with suppress(OSError, ValueError):
        if terminal is not None and terminal.isatty():
            os.write(terminal.fileno(), words.encode("ascii"))


def _settings() -> Callable[[], None]:
    """What brings back how the terminal reads lines now (`stty -a`)."""
    if sys.platform == "win32":
        return lambda: None
    import termios

    try:
        at = sys.__stdin__.fileno() if sys.__stdin__ is not None else -1
        before = termios.tcgetattr(at)
    except (OSError, ValueError, termios.error):
        return lambda: None

    def back() -> None:
        with suppress(OSError, termios.error):
            termios.tcsetattr(at, termios.TCSANOW, before)

    return back
