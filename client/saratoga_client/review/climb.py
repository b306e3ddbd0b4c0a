"""How a count rose: what a board had banked at every moment."""

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Climb:
    """Banked cards over time; a card taken back or a move undone lowers the count."""

    start: int
    """Cards banked by the deal."""
    counts: tuple[tuple[int, int], ...]
    """Milliseconds since the deal was shown, and cards banked from then on; in order of time."""
    end: int
    """When it was over, in milliseconds."""

    @property
    def final(self) -> int:
        """Cards banked in the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Cards banked at a moment; after the end, what it came to."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start

    def reached(self, banked: int) -> int | None:
        """When so many cards were banked for the first time; `None`: never."""
        if banked <= self.start:
            return 0
        return next((at for at, count in self.counts if count >= banked), None)
