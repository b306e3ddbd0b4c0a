"""The server as a program: its last lines are written, whatever ends it, and closed streams stay closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kit.full_pipe import FullPipe

PROGRAM = """
from saratoga_server.config import Config
from saratoga_server.logs import EventLog
from saratoga_server.process.program import run_program

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


@pytest.mark.parametrize(
    ("end", "code", "last"),
    [("", 0, "server_threads_hang"), ("raise LookupError('No disk.')", 1, "Error: No disk.")],
)
def test_a_program_with_a_thread_that_hangs_ends_all_the_same(
    end: str, code: int, last: str
) -> None:
    hang = "import asyncio, threading; asyncio.get_running_loop().run_in_executor(None, threading.Event().wait); "
    done = subprocess.run(
        command(hang + end), capture_output=True, text=True, check=False, timeout=BOUND
    )
    assert last in done.stderr.splitlines()[-1]
    assert done.returncode == code
