"""A minimal app is ended in every possible way, and the terminal is restored each time."""

import signal
import sys
from collections.abc import AsyncIterator

import pytest

from kit import bare_app
from kit.pseudo_terminal import Window, window

PROGRAM = (sys.executable, bare_app.__file__, "--guarded")


@pytest.fixture(params=["modern", "older"])
async def app(request: pytest.FixtureRequest) -> AsyncIterator[Window]:
    """A window with the minimal app after its first frame; a modern terminal answers queries."""
    async with window(*PROGRAM, modern=request.param == "modern") as opened:
        await opened.terminal.shows(bare_app.SHOWN)
        yield opened


async def test_an_app_that_ends_by_itself_gives_the_terminal_back(app: Window) -> None:
    assert app.terminal.settings() != app.before
    app.terminal.type(b"q")
    assert await app.given_back() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
async def test_a_signal_restores_the_terminal_and_sets_the_exit_code(
    app: Window, number: signal.Signals
) -> None:
    app.process.send_signal(number)
    assert await app.given_back() == 128 + number


async def test_ctrl_c_from_outside_is_an_interrupt_as_everywhere(app: Window) -> None:
    app.process.send_signal(signal.SIGINT)
    # the signal is not caught here; `saratoga` turns it into exit code 130
    assert await app.given_back() == -signal.SIGINT
    assert b"KeyboardInterrupt" in app.terminal.written


async def test_an_error_after_a_signal_does_not_change_the_exit_code(app: Window) -> None:
    app.terminal.type(b"l")
    assert await app.given_back() == 128 + signal.SIGTERM


async def test_a_signal_while_the_terminal_is_being_taken() -> None:
    async with window(*PROGRAM) as early:
        await early.terminal.shows("\x1b[?1049h")
        early.process.send_signal(signal.SIGTERM)
        assert await early.given_back() == 128 + signal.SIGTERM


async def test_a_second_signal_does_not_wait_for_an_app_that_hangs(app: Window) -> None:
    app.terminal.type(b"h")
    await app.terminal.shows(bare_app.HANGS)
    app.process.send_signal(signal.SIGTERM)
    await app.terminal.shows("\x1b[?1049l")
    assert app.process.returncode is None
    app.process.send_signal(signal.SIGTERM)
    assert await app.given_back() == 128 + signal.SIGTERM


async def test_a_program_that_is_busy_for_ever_is_ended_all_the_same(app: Window) -> None:
    app.terminal.type(b"b")
    await app.terminal.shows(bare_app.BUSY)
    app.process.send_signal(signal.SIGTERM)
    app.process.send_signal(signal.SIGHUP)
    # two signals that arrive together are handled in any order
    assert await app.given_back() in (128 + signal.SIGTERM, 128 + signal.SIGHUP)


async def test_a_fault_is_raised_and_no_trace_of_textual_is_printed(app: Window) -> None:
    app.terminal.type(b"f")
    assert await app.given_back() == 1
    said = bytes(app.terminal.written).rpartition(b"\x1b[?1049l")[2]
    # as Python prints it; `saratoga` prints a sentence instead
    assert said.rstrip().endswith(b"ValueError: raised by the key f")
    assert said.count(b"Traceback") == 1


async def test_the_terminal_notices_what_a_killed_program_keeps(app: Window) -> None:
    """No program can catch SIGKILL; only `reset` restores the terminal after it."""
    app.process.send_signal(signal.SIGKILL)
    assert await app.terminal.ended(app.process) == -signal.SIGKILL
    assert "alternate screen (?1049) is on" in app.terminal.modes.kept
    assert "mouse motion (?1003) is on" in app.terminal.modes.kept
    assert "the cursor shows (?25) is off" in app.terminal.modes.kept
    assert app.terminal.settings() != app.before


async def test_textual_alone_leaves_the_mouse_counting_pixels() -> None:
    """`FAREWELL` resets the mouse mode because Textual does not; if this test fails, it is not needed."""
    async with window(sys.executable, bare_app.__file__) as alone:
        await alone.terminal.shows("\x1b[?1016h")
        alone.terminal.type(b"q")
        assert await alone.terminal.ended(alone.process) == 0
        assert alone.terminal.modes.kept == ["mouse in pixels (?1016) is on"]
