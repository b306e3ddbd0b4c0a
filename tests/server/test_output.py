"""What the server writes: the log by a thread, output that cannot be written, the ready line, notices to process."""

import asyncio
import io
import json
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue

import pytest

from kit.server_process import FullPipe
from saratoga_server import process
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.process import LogWriter, announce

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


PROGRAM = """
import sys
from saratoga_server.process import drop_unwritable_output

print("the last words")
{end}
"""


@pytest.mark.parametrize(("end", "code"), [("drop_unwritable_output()", 0), ("", 120)])
def test_output_to_a_closed_stream_is_no_failure(end: str, code: int) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(end=end)],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            check=False,
        )
    assert done.returncode == code


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


async def test_a_pipe_that_nobody_reads_delays_nothing(
    manager: socket.socket, full_pipe: FullPipe, caplog: pytest.LogCaptureFixture
) -> None:
    await announce("ws://127.0.0.1:7470", full_pipe.write_end)
    assert manager.recv(100).decode() == process.READY
    assert [record.getMessage() for record in caplog.records] == ["ready_line_failed"]
    # the line is there as soon as somebody reads
    full_pipe.read_filling()
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
