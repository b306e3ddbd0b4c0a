"""Output that cannot be written when the server ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
