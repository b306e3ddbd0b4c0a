"""What the process has printed and nobody can read any more."""

import os
import sys


def drop_unwritable_output() -> None:
    """Write what is left of the output; drop it if its terminal is closed or its disk full.

    Otherwise Python would try once more when it exits, and end with exit code 120.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed from the start
            continue
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
