"""The log is written by a thread: in order, never blocking, and lines that were dropped are reported."""

import io
import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from kit.full_pipe import FullPipe
from saratoga_server.logs import EventLog, set_up_logs
from saratoga_server.metrics.counters import Metrics
from saratoga_server.process import log_writer
from saratoga_server.process.log_writer import LogWriter

WITHIN = 20.0
"""Longest time in seconds for lines to be written; a bound that no test should reach."""

log = EventLog("tests")

Open = Callable[[int], LogWriter]


class WatchedMetrics(Metrics):
    """Metrics that set an event when a line of the log is dropped."""

    def __init__(self) -> None:
        self.dropped = Event()
        super().__init__()

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if name == "log_lines_dropped" and value:
            self.dropped.set()


@pytest.fixture
def metrics() -> WatchedMetrics:
    return WatchedMetrics()


@pytest.fixture
def writer_to(metrics: Metrics) -> Iterator[Open]:
    """Yield a function that makes a writer the stream of the log."""

    def opened(descriptor: int) -> LogWriter:
        writer = LogWriter(descriptor, metrics)
        set_up_logs(as_json=True, node="east-1", stream=writer)
        return writer

    yield opened
    set_up_logs(stream=io.StringIO(), strict=True)
    logging.captureWarnings(False)


def test_lines_are_written_in_their_order(tmp_path: Path, writer_to: Open) -> None:
    with (tmp_path / "log").open("wb") as file:
        writer = writer_to(file.fileno())
        for number in range(1000):
            log.info("line", number=number)
        writer.close(WITHIN)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["number"] for line in lines] == list(range(1000))


def test_lines_that_nobody_reads_are_dropped_counted_and_reported_in_their_place(
    full_pipe: FullPipe, writer_to: Open, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_writer, "LIMIT", 50)
    writer = writer_to(full_pipe.write_end)
    written = 500
    for number in range(written):
        log.info("line", number=number)
    assert metrics.log_lines_dropped >= written - 2 * 50 - 2
    full_pipe.read_filling()
    number = dropped = 0
    while number < written:
        event = json.loads(full_pipe.read_line())
        if event["event"] == "log_lines_dropped":
            assert event["level"] == "error"
            number += event["count"]
            dropped += event["count"]
        else:
            assert event["number"] == number
            number += 1
    log.info("line", number=written)
    assert json.loads(full_pipe.read_line())["number"] == written
    assert metrics.log_lines_dropped == dropped
    writer.close(WITHIN)


def test_lines_for_a_full_disk_are_reported_when_there_is_space_again(
    tmp_path: Path, writer_to: Open, metrics: WatchedMetrics
) -> None:
    descriptor = os.open("/dev/full", os.O_WRONLY)
    writer = writer_to(descriptor)
    log.info("lost")
    assert metrics.dropped.wait(WITHIN)
    with (tmp_path / "log").open("wb") as file:
        os.dup2(file.fileno(), descriptor)
    log.info("kept")
    writer.close(WITHIN)
    os.close(descriptor)
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["kept", "log_lines_dropped"]
    assert lines[1]["count"] == metrics.log_lines_dropped == 1


def test_closing_does_not_wait_for_a_reader_that_never_comes(
    full_pipe: FullPipe, writer_to: Open
) -> None:
    writer = writer_to(full_pipe.write_end)
    log.info("unread")
    writer.close(0.01)
    full_pipe.read_filling()
    assert json.loads(full_pipe.read_line())["event"] == "unread"
