"""Functions that inspect and await other processes."""

import fcntl
import os
import socket
import struct
import time
from pathlib import Path

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
