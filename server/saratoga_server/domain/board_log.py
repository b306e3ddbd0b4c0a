"""A board's log, stored as arrays to save memory.

An entry takes 20 bytes here and 290 as a separate object. (Measured with 72 moves: a log of objects
took 11 KiB, the largest part of a racer.)
"""

from array import array
from collections.abc import Iterable, Iterator
from sys import intern
from typing import Final

from saratoga_server.ports import LogEntry, Millis

_WHOLE: Final = "q"
"""Array type: eight bytes per number, like the store's numbers."""


_SHORT: Final = "I"
"""Array type: four bytes per number, enough for commit numbers of one race."""


class BoardLog:
    """A board's log entries, oldest first. Entries can only be appended."""

    __slots__ = ("_moments", "_numbers", "_texts")

    def __init__(self, entries: Iterable[LogEntry] = ()) -> None:
        self._texts: list[str] = []
        self._moments = array(_WHOLE)
        self._numbers = array(_SHORT)
        for entry in entries:
            self.append(entry)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, place: int) -> LogEntry:
        return LogEntry(
            self._texts[place],
            Millis(self._moments[place]),
            self._numbers[place],
        )

    def __iter__(self) -> Iterator[LogEntry]:
        for text, at, number in zip(self._texts, self._moments, self._numbers, strict=True):
            yield LogEntry(text, Millis(at), number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BoardLog) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def append(self, entry: LogEntry) -> None:
        # the same few hundred moves are made again and again
        self._texts.append(intern(entry.text))
        self._moments.append(entry.at)
        self._numbers.append(entry.number)

    def copy(self) -> "BoardLog":
        """Return a copy of the log."""
        other = BoardLog()
        other._texts = self._texts[:]
        other._moments = self._moments[:]
        other._numbers = self._numbers[:]
        return other
