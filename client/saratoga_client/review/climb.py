"""The banked cards of a board over time."""

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Climb:
    """The number of banked cards over time; taking cards back and undo lower it."""

    start: int
    """Number of cards that the deal banked."""
    counts: tuple[tuple[int, int], ...]
    """Pairs in order of time: milliseconds since the deal, and banked cards from then on."""
    end: int
    """The time of the end, in milliseconds since the deal was shown."""

    @property
    def final(self) -> int:
        """The number of cards banked at the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Return the number of cards banked at a time in milliseconds, or the final number later."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start

    def reached(self, banked: int) -> int | None:
        """Return the first time, in milliseconds, with so many cards banked; `None` for never."""
        if banked <= self.start:
            return 0
        return next((at for at, count in self.counts if count >= banked), None)
