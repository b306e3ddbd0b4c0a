"""Handle output that cannot be written because the terminal is closed or the disk is full."""

import os
import sys


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
