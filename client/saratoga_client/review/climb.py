"""The banked cards of a board over time."""

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Climb:
    """Banked cards over time; taking back and undo lower the count."""

    start: int
    """Cards banked by the deal."""
    counts: tuple[tuple[int, int], ...]
    """Milliseconds since the deal was shown, and cards banked from then on; in order of time."""
    end: int
    """The time of the end, in milliseconds."""

    @property
    def final(self) -> int:
        """The cards banked at the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Return the cards banked at a moment; after the end, the final count."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start

    def reached(self, banked: int) -> int | None:
        """Return when so many cards were first banked; `None` for never."""
        if banked <= self.start:
            return 0
        return next((at for at, count in self.counts if count >= banked), None)
