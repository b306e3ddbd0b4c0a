"""How many connections each worker of a house has: a few numbers in memory that all of them see."""

import mmap
import tempfile
from typing import IO, Final, Self

NOBODY: Final = 0xFFFF_FFFF
"""Stands where no worker counts (any more): nobody waits for such a one."""

_BYTES: Final = 4


class Census:
    """The counts. The parent makes them; every worker writes at its own place."""

    def __init__(self, file_number: int, places: int, place: int = 0) -> None:
        self._place = place
        self._memory = mmap.mmap(file_number, places * _BYTES)
        self._counts = memoryview(self._memory).cast("I")

    @classmethod
    def made(cls, places: int) -> tuple[Self, IO[bytes]]:
        """A new one where nobody counts yet, and the file without a name that workers inherit."""
        file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked closes it
        file.write(b"\xff" * (places * _BYTES))
        file.flush()
        return cls(file.fileno(), places), file

    def tell(self, count: int) -> None:
        """Write down how many there are here."""
        self._counts[self._place] = count

    def gone(self, place: int) -> None:
        """Nobody is there any more."""
        self._counts[place] = NOBODY

    def least(self) -> int:
        """The smallest count of all; `NOBODY` if none counts."""
        return min(self._counts)

    def close(self) -> None:
        self._counts.release()
        self._memory.close()
