"""Wall clocks of single processes, which tests change while the processes run.

A program in C is run under libfaketime. Python's threads do not work with libfaketime, so in a Python
program `time.time` and `time.time_ns` are replaced before any other import. Monotonic clocks stay right.
"""

import os
from dataclasses import dataclass
from pathlib import Path

PLACES = ("/usr/lib/*-linux-gnu*/faketime", "/usr/lib*/faketime", "/usr/local/lib/faketime")

TESTS = Path(__file__).parents[1]
"""The folder that contains the package `kit`."""

SEEN_WITHIN = 1.0
"""Seconds within which a process notices the new time."""

STEPPED_PYTHON = """
import time

_known = 0

def _offset():
    global _known
    try:
        with open({file!r}) as file:
            _known = int(file.read())
    except OSError:  # the process has no file descriptor left
        pass
    return _known

_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + _offset()
time.time_ns = lambda: _time_ns() + _offset() * 1_000_000_000
"""


def find_library() -> Path | None:
    """Return the path of libfaketime; `None` if the library is missing and not required."""
    found = [path for place in PLACES for path in Path("/").glob(f"{place[1:]}/libfaketimeMT.so.1")]
    must = os.environ.get("CI") or os.environ.get("SARATOGA_NEED_PROGRAMS") == "1"
    assert found or not must, "libfaketime is not installed, and this run must step clocks"
    return found[0] if found else None


@dataclass
class SteppingClock:
    """The wall clock of a process that is started by `before_program` or `before_python`."""

    folder: Path
    offset: int = 0
    """Seconds ahead of the true time."""

    def __post_init__(self) -> None:
        self.folder.mkdir()
        (self.folder / "sitecustomize.py").write_text(STEPPED_PYTHON.format(file=str(self.file)))
        self.set(0)

    @property
    def file(self) -> Path:
        return self.folder / "offset"

    @property
    def before_program(self) -> tuple[str, ...]:
        """Return the command prefix for a program in C; empty without libfaketime."""
        library = find_library()
        if library is None:
            return ()
        return (
            "env",
            f"LD_PRELOAD={library}",
            f"FAKETIME_TIMESTAMP_FILE={self.file}",
            f"FAKETIME_CACHE_DURATION={SEEN_WITHIN:.0f}",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "NO_FAKE_STAT=1",
        )

    @property
    def before_python(self) -> tuple[str, ...]:
        """Return the command prefix for a program in Python."""
        paths = [str(self.folder), str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        return ("env", f"PYTHONPATH={os.pathsep.join(paths)}")

    def set(self, offset: int) -> None:
        """Step the clock to this many seconds ahead of the true time."""
        self.offset = offset
        # Replace the file at once: a half-written one would be another time.
        new = self.folder / "offset.new"
        new.write_text(f"{offset:+d}\n")
        new.replace(self.file)
