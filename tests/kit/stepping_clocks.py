"""Wall clocks that can be stepped while a process runs: its own and nobody else's.

A program is run by libfaketime. It does not get on with Python's threads, so Python gets another
`time.time` and `time.time_ns` before anything else is imported. Steady clocks are left alone.
"""

import os
from dataclasses import dataclass
from pathlib import Path

PLACES = ("/usr/lib/*-linux-gnu*/faketime", "/usr/lib*/faketime", "/usr/local/lib/faketime")

TESTS = Path(__file__).parents[1]
"""Where the kit is found."""

SEEN_WITHIN = 1.0
"""Seconds after which a process goes by the new time."""

STEPPED_PYTHON = """
import time

def _offset():
    with open({file!r}) as file:
        return int(file.read())

_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + _offset()
time.time_ns = lambda: _time_ns() + _offset() * 1_000_000_000
"""


def find_library() -> Path | None:
    """Where libfaketime is; `None` where it is not installed, and need not be."""
    found = [path for place in PLACES for path in Path("/").glob(f"{place[1:]}/libfaketimeMT.so.1")]
    must = os.environ.get("CI") or os.environ.get("SARATOGA_NEED_PROGRAMS") == "1"
    assert found or not must, "libfaketime is not installed, and this run must step clocks"
    return found[0] if found else None


@dataclass
class SteppingClock:
    """The clock of whoever is run by `before_program` or `before_python`; in a folder of its own."""

    folder: Path
    offset: int = 0
    """Seconds from the true time."""

    def __post_init__(self) -> None:
        self.folder.mkdir()
        (self.folder / "sitecustomize.py").write_text(STEPPED_PYTHON.format(file=str(self.file)))
        self.set(0)

    @property
    def file(self) -> Path:
        return self.folder / "offset"

    @property
    def before_program(self) -> tuple[str, ...]:
        """What a program in C is run by; nothing where that cannot be."""
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
        """What a program in Python is run by."""
        paths = [str(self.folder), str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
        return ("env", f"PYTHONPATH={os.pathsep.join(paths)}")

    def set(self, offset: int) -> None:
        """Step to so many seconds from the true time."""
        self.offset = offset
        # in one piece: a half-written file would be another time
        new = self.folder / "offset.new"
        new.write_text(f"{offset:+d}\n")
        new.replace(self.file)
