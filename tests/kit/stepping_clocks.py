"""Wall clocks that can be stepped while a process runs: its own, nobody else's; by libfaketime."""

from dataclasses import dataclass
from pathlib import Path

PLACES = ("/usr/lib/*-linux-gnu*/faketime", "/usr/lib*/faketime", "/usr/local/lib/faketime")

SEEN_WITHIN = 1.0
"""Seconds after which a process goes by the new time."""


def find_library() -> Path:
    """Where libfaketime is."""
    found = [path for place in PLACES for path in Path("/").glob(f"{place[1:]}/libfaketimeMT.so.1")]
    assert found, "libfaketime is not installed"
    return found[0]


@dataclass
class SteppingClock:
    """The clock of whoever is run by `before`; the steady clock is left alone."""

    file: Path
    offset: int = 0
    """Seconds from the true time."""

    def __post_init__(self) -> None:
        self.set(0)

    @property
    def before(self) -> tuple[str, ...]:
        """What the program is run by."""
        return (
            "env",
            f"LD_PRELOAD={find_library()}",
            f"FAKETIME_TIMESTAMP_FILE={self.file}",
            f"FAKETIME_CACHE_DURATION={SEEN_WITHIN:.0f}",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            "NO_FAKE_STAT=1",
        )

    def set(self, offset: int) -> None:
        """Step to so many seconds from the true time."""
        self.offset = offset
        # in one piece: a half-written file would be another time
        new = self.file.with_suffix(".new")
        new.write_text(f"{offset:+d}\n")
        new.replace(self.file)
