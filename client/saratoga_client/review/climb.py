"""The number of a racer's banked cards over time. Pure."""

from bisect import bisect_right
from dataclasses import dataclass

from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row


@dataclass(frozen=True, slots=True)
class Climb:
    """The number of banked cards over time; taking cards back and undo lower it."""

    start: int
    """The number of cards that the deal banked."""
    counts: tuple[tuple[int, int], ...]
    """Pairs in order of time: milliseconds since the deal, and banked cards from then on."""
    end: int
    """The time at which the board ended, in milliseconds since the deal."""

    @property
    def final(self) -> int:
        """The number of cards banked at the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Return the number of cards banked `at` milliseconds after the deal."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start


def live_climb(state: SessionState, row: Row, end: int) -> Climb:
    """Return the climb of a racer until `end`, as far as the standings have shown it."""
    moments = state.history.get(row.player, ())
    return Climb(moments[0].banked if moments else row.banked, tuple(moments[1:]), end)
