"""Functions that inspect and await other processes, and a pipe that is full."""

import fcntl
import os
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

SIZE: Final = 4096
"""The size of the pipe in bytes, the smallest that Linux makes."""


@dataclass
class FullPipe:
    """A full pipe; whoever writes to it is blocked until the pipe is read."""

    read_end: int
    write_end: int

    def read_filling(self) -> None:
        """Read the bytes with which the pipe was filled."""
        filling = b""
        while len(filling) < SIZE:
            filling += os.read(self.read_end, SIZE - len(filling))
        assert filling == b"." * SIZE

    def read_line(self) -> str:
        """Read the next line, without its end."""
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self.read_end, 1)
            assert byte, "the pipe has no other end any more"
            line += byte
        return line[:-1].decode()

    def close(self) -> None:
        os.close(self.read_end)
        os.close(self.write_end)


@pytest.fixture
def full_pipe() -> Iterator[FullPipe]:
    """A pipe whose writer is blocked until the test reads."""
    pipe = FullPipe(*os.pipe())
    fcntl.fcntl(pipe.write_end, fcntl.F_SETPIPE_SZ, SIZE)
    os.write(pipe.write_end, b"." * SIZE)
    yield pipe
    pipe.close()


GONE_WITHIN = 20.0
"""Longest time in seconds that a test waits; a bound, not a measurement."""


def is_running(pid: int) -> bool:
    """Return whether the process is running; a zombie is not."""
    try:
        os.kill(pid, 0)
        # one that has ended may be listed until its parent takes note of it
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return not Path("/proc/self").exists()


def wait_until_gone(pid: int) -> None:
    """Wait until the process has ended; it may be a child of another process."""
    until = time.monotonic() + GONE_WITHIN
    while is_running(pid):
        assert time.monotonic() < until, f"process {pid} does not end"
        time.sleep(0.005)


def wait_until_unlocked(path: Path) -> None:
    """Wait until no process holds the file's lock."""
    until = time.monotonic() + GONE_WITHIN
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                assert time.monotonic() < until, f"{path} stays locked"
                time.sleep(0.005)
            else:
                return


def listener_of(path: Path) -> int:
    """Return the id of the process that listens on a Unix socket. Raise `OSError` if none does."""
    credentials = struct.Struct("3i")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, credentials.size)
    pid: int = credentials.unpack(peer)[0]
    return pid


def wait_for_listener(path: Path) -> int:
    """Wait until a process listens on a Unix socket; return its id."""
    until = time.monotonic() + GONE_WITHIN
    while True:
        try:
            return listener_of(path)
        except OSError:
            assert time.monotonic() < until, f"no process listens on {path}"
            time.sleep(0.005)
