"""Write to standard output and standard error that nobody may read, or whose disk may be full."""

import os
import select
import sys
from typing import Final

STDIN: Final = 0
STDOUT: Final = 1
STDERR: Final = 2


def open_closed_descriptors() -> None:
    """Open the null device in place of standard streams that are closed.

    Otherwise a socket or a file would get the number of such a stream, and what is written to it.
    """
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:  # a new descriptor gets the lowest free number
            os.open(os.devnull, os.O_RDWR)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes; blocks until they are written. Raises `OSError`."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # another process that shares the pipe has made it non-blocking
            select.select([], [descriptor], [])


def drop_unwritable_output() -> None:
    """Flush the output; drop it if its terminal is closed or its disk is full.

    Otherwise Python would try to flush it at exit, and end with exit code 120.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # the output was closed from the start
            continue
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
