"""A pipe that nobody reads, full from the start."""

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
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

    def close_write_end(self) -> None:
        """Close this process's write end, which another process may still hold."""
        os.close(self.write_end)
        self.write_end = os.open(os.devnull, os.O_WRONLY)

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
