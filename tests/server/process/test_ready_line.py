"""The ready line: printed for the parent process, and reported to systemd."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kit.full_pipe import FullPipe
from saratoga_server.process import systemd
from saratoga_server.process.ready_line import announce


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    path = str(tmp_path / "notify")
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(path)
        listening.setblocking(False)
        yield listening


def test_the_line_has_the_address_and_systemd_is_notified(
    manager: socket.socket, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w") as out:
        announce("ws://127.0.0.1:7470", out.fileno())
        # the line is flushed, so that the parent process need not wait for it
        assert (tmp_path / "out").read_text() == "saratoga-server ready ws://127.0.0.1:7470\n"
    assert manager.recv(100).decode() == systemd.READY


def test_systemd_is_notified_though_the_line_cannot_be_printed(
    manager: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    with Path("/dev/full").open("w") as full:
        announce("ws://127.0.0.1:7470", full.fileno())
    assert manager.recv(100).decode() == systemd.READY
    assert [record.getMessage() for record in caplog.records] == ["ready_line_failed"]


def test_a_pipe_that_nobody_reads_delays_nothing(
    manager: socket.socket, full_pipe: FullPipe, caplog: pytest.LogCaptureFixture
) -> None:
    announce("ws://127.0.0.1:7470", full_pipe.write_end)
    assert manager.recv(100).decode() == systemd.READY
    assert [record.getMessage() for record in caplog.records] == ["ready_line_failed"]
    # the line is there as soon as somebody reads
    full_pipe.read_filling()
    assert full_pipe.read_line() == "saratoga-server ready ws://127.0.0.1:7470"
