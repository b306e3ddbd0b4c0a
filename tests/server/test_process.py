"""What the server sets in its process, what it writes, and how it ends."""

import asyncio
import io
import json
import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest
import uvloop

from kit.server_process import FullPipe
from saratoga_server import process
from saratoga_server import run as module
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.process import (
    LogWriter,
    announce,
    run_event_loop,
)
from saratoga_server.run import Shutdown

# Running the event loop


SYSTEMS_OWN = sys.getswitchinterval()


@pytest.mark.parametrize("is_installed", [True, False])
def test_the_server_runs_on_uvloop_where_it_is_installed(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_installed:
        monkeypatch.setitem(sys.modules, "uvloop", None)
    on_uvloop: list[bool] = []

    async def work() -> None:
        on_uvloop.append(isinstance(asyncio.get_running_loop(), uvloop.Loop))

    try:
        run_event_loop(work())
        assert sys.getswitchinterval() == pytest.approx(0.001)
    finally:
        sys.setswitchinterval(SYSTEMS_OWN)
    assert on_uvloop == [is_installed]


# The server raises its limit on open files


FEW = 512


@pytest.fixture
def few() -> Iterator[int]:
    """Lower the soft limit on open files, also for child processes; yield the hard limit."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, most))
    try:
        yield most
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


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


# The server as a program: its last lines are written, whatever ends it


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
    ("end", "last"),
    [
        ("raise LookupError('Nothing there. Look again.')", "Error: Nothing there. Look again."),
        ("raise ValueError('a bug')", "cannot run: a bug. The line above says where."),
    ],
)
def test_the_last_lines_are_written_whatever_ends_the_program(end: str, last: str) -> None:
    done = subprocess.run(command(end), capture_output=True, text=True, check=False, timeout=BOUND)
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert [line.rpartition("=")[2] for line in lines[:2000]] == [str(n) for n in range(2000)]
    assert lines[-1].endswith(last)
    assert done.returncode == 1


def test_a_program_whose_log_nobody_reads_ends_all_the_same(full_pipe: FullPipe) -> None:
    words = command("raise LookupError('no')")
    done = subprocess.run(words, stderr=full_pipe.write_end, check=False, timeout=BOUND)
    assert done.returncode == 1


def test_a_server_that_is_started_with_a_low_limit_on_open_files_raises_it(few: int) -> None:
    shown = "import resource; print(*resource.getrlimit(resource.RLIMIT_NOFILE))"
    done = subprocess.run(command(shown), capture_output=True, check=True, timeout=BOUND)
    assert [int(limit) for limit in done.stdout.split()] == [few, few]


# The log is written by a thread: in order, never blocking


WITHIN = 20.0
"""Longest time in seconds for lines to be written; a bound that no test should reach."""

log = EventLog("tests")

Open = Callable[[int], LogWriter]


@pytest.fixture
def dropped() -> Queue[None]:
    """The lines that were lost."""
    return Queue()


@pytest.fixture
def writer_to(dropped: Queue[None]) -> Iterator[Open]:
    """Yield a function that makes a writer the stream of the log."""

    def opened(descriptor: int) -> LogWriter:
        writer = LogWriter(descriptor, lambda: dropped.put(None))
        set_up_logs(as_json=True, node="east-1", stream=writer)
        return writer

    yield opened
    set_up_logs(stream=io.StringIO(), strict=True)
    logging.captureWarnings(False)


def test_lines_that_nobody_reads_are_dropped_and_counted_and_the_others_written_in_order(
    full_pipe: FullPipe, writer_to: Open, dropped: Queue[None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "LOG_LIMIT", 50)
    writer = writer_to(full_pipe.write_end)
    for number in range(500):
        log.info("line", number=number)
    assert dropped.qsize() >= 500 - 50 - 1
    full_pipe.read_filling()
    kept = 500 - dropped.qsize()
    numbers = [json.loads(full_pipe.read_line())["number"] for _ in range(kept)]
    assert numbers == sorted(set(numbers))
    assert numbers[:50] == list(range(50))
    log.info("line", number=500)
    assert json.loads(full_pipe.read_line())["number"] == 500
    writer.close(WITHIN)


def test_lines_for_a_full_disk_are_counted_and_later_ones_written(
    tmp_path: Path, writer_to: Open, dropped: Queue[None]
) -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    writer = writer_to(descriptor)
    log.info("lost")
    dropped.get(timeout=WITHIN)
    with (tmp_path / "log").open("wb") as file:
        os.dup2(file.fileno(), descriptor)
    log.info("kept")
    writer.close(WITHIN)
    os.close(descriptor)
    [line] = (tmp_path / "log").read_text().splitlines()
    assert json.loads(line)["event"] == "kept"


# Output that cannot be written when the server ends


LAST_WORDS = """
import sys
from saratoga_server.process import drop_unwritable_output

print("the last words")
drop_unwritable_output()
"""


def test_output_to_a_closed_stream_is_no_failure() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", LAST_WORDS],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            check=False,
        )
    assert done.returncode == 0


# The ready line: printed for the parent process, and reported to systemd


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    path = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(path)
        listening.setblocking(False)
        yield listening


async def test_the_line_has_the_address_and_systemd_is_notified(
    manager: socket.socket, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w") as out:
        await announce("ws://127.0.0.1:7470", out.fileno())
        # the line is flushed, so that the parent process need not wait for it
        assert (tmp_path / "out").read_text() == "saratoga-server ready ws://127.0.0.1:7470\n"
    assert manager.recv(100).decode() == process.READY


async def test_a_pipe_that_nobody_reads_delays_nothing_and_a_late_line_is_not_lost(
    manager: socket.socket, full_pipe: FullPipe
) -> None:
    with ThreadPoolExecutor(1) as threads:
        asyncio.get_running_loop().set_default_executor(threads)
        idle = threading.Event()
        threads.submit(idle.wait)  # as on a busy machine, no thread begins to write
        await announce("ws://127.0.0.1:7470", full_pipe.write_end)
        assert manager.recv(100).decode() == process.READY
        idle.set()
        full_pipe.read_filling()
    os.set_blocking(full_pipe.read_end, False)
    assert full_pipe.read_line() == "saratoga-server ready ws://127.0.0.1:7470"


# Notifications to systemd, by datagram to the socket that it names


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
    ],
)
def test_the_watchdog_is_fed_if_it_is_for_this_process(
    environment: dict[str, str], seconds: float | None
) -> None:
    assert process.watchdog_seconds(environment) == seconds


async def test_the_watchdog_is_fed_again_and_again(manager: socket.socket) -> None:
    environment = {"NOTIFY_SOCKET": manager.getsockname(), "WATCHDOG_USEC": "20000"}
    feeding = asyncio.create_task(process.feed_watchdog(environment))
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(10):
        for _ in range(3):
            assert await loop.sock_recv(manager, 100) == process.WATCHDOG.encode()
    feeding.cancel()
