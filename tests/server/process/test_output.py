"""Output that cannot be written when the server ends."""

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from kit.full_pipe import FullPipe
from saratoga_server.process.output import write_all

PROGRAM = """
import sys
from saratoga_server.process.output import drop_unwritable_output

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


def test_all_is_written_to_a_pipe_that_another_process_made_non_blocking(
    full_pipe: FullPipe,
) -> None:
    os.set_blocking(full_pipe.write_end, False)
    writing = Thread(target=write_all, args=(full_pipe.write_end, b"line\n" * 2000))
    writing.start()
    full_pipe.read_filling()
    assert [full_pipe.read_line() for _ in range(2000)] == ["line"] * 2000
    writing.join()
