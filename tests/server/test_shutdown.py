"""How the server ends: signals, a shutdown in time, and the last lines of its program."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kit.server_process import FullPipe
from saratoga_server import shutdown as module
from saratoga_server.shutdown import Shutdown

# Signals request a shutdown; a second one forces it


async def test_a_hangup_never_forces_a_shutdown() -> None:
    shutdown = Shutdown()
    shutdown.listen_for_signals()
    # kernel and shell each send SIGHUP when a terminal is closed
    for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
        shutdown.requested.clear()
        os.kill(os.getpid(), number)
        async with asyncio.timeout(10):
            await shutdown.requested.wait()
    assert not shutdown.forced.is_set()


async def test_a_hangup_that_was_ignored_from_the_start_stays_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    Shutdown().listen_for_signals()
    assert not asyncio.get_running_loop().remove_signal_handler(signal.SIGHUP)


async def hang(steps: list[str]) -> None:
    """Wait for ever, in two steps, as closing does while the store hangs."""
    try:
        await asyncio.Event().wait()
    finally:
        steps.append("drained")
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("closed")


async def test_a_shutdown_that_hangs_is_cancelled_step_by_step_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("STOP_WITHIN", "ABORT_WITHIN", "_STEP_WITHIN"):
        monkeypatch.setattr(module, name, 0.01)
    shutdown = Shutdown()
    steps: list[str] = []
    limited = asyncio.create_task(shutdown.limit(hang(steps), 0.0))
    await asyncio.sleep(0)
    assert steps == []
    shutdown.requested.set()
    async with asyncio.timeout(10):
        await limited
    assert steps == ["drained", "closed"]
    assert [record.getMessage() for record in caplog.records] == ["server_aborted"]


# The server as a program: its last lines are written, whatever ends it, and closed streams stay closed


PROGRAM = """
from saratoga_server.config import Config
from saratoga_server.logs import EventLog
from saratoga_server.process import run_program

async def serve(config, metrics):
    log = EventLog("tests")
    for number in range(2000):
        log.info("line", number=number)
    {end}

run_program(Config(), serve, (LookupError,))
"""

BOUND = 20.0
"""Longest time in seconds for a program to end; a bound that no test should reach."""


def command(end: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM.format(end=end)]


@pytest.mark.parametrize(
    ("end", "code", "last"),
    [
        ("", 0, ""),
        ("raise LookupError('Nothing there. Look again.')", 1, "Error: Nothing there. Look again."),
        ("raise ValueError('a bug')", 1, "cannot run: a bug. The line above says where."),
        ("raise SystemExit(3)", 3, ""),
    ],
)
def test_the_last_lines_are_written_whatever_ends_the_program(
    end: str, code: int, last: str
) -> None:
    done = subprocess.run(command(end), capture_output=True, text=True, check=False, timeout=BOUND)
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert [line.rpartition("=")[2] for line in lines[:2000]] == [str(n) for n in range(2000)]
    assert lines[-1].endswith(last)
    assert done.returncode == code


@pytest.mark.parametrize(("end", "code"), [("", 0), ("raise LookupError('no')", 1)])
def test_a_program_whose_log_nobody_reads_ends_all_the_same(
    full_pipe: FullPipe, end: str, code: int
) -> None:
    done = subprocess.run(command(end), stderr=full_pipe.write_end, check=False, timeout=BOUND)
    assert done.returncode == code


def test_a_program_without_standard_streams_writes_its_log_nowhere(tmp_path: Path) -> None:
    report = tmp_path / "report"
    end = f"import os; open({str(report)!r}, 'w').write(os.readlink('/proc/self/fd/2'))"
    without = ["/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    done = subprocess.run([*without, *command(end)], check=False, timeout=BOUND)
    assert done.returncode == 0
    assert report.read_text() == os.devnull
