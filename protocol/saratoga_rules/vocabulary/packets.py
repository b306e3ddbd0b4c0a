"""Rule words for packets: how many of a column's face-up cards may be lifted together.

Foundations always take one card at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from saratoga_rules.position import Cards
from saratoga_rules.vocabulary.building import Build


@dataclass(frozen=True)
class Packet:
    """A rule for which of a column's face-up cards are carried together."""

    words: str
    sizes: Callable[[Cards, Build], Sequence[int]]
    """Return the numbers of cards that may be lifted together; none from a space."""
    allows: Callable[[Cards, int, Build], bool]
    """Return whether a number of cards, from 1 to all, may be lifted together."""

    def __str__(self) -> str:
        return self.words


_SIZES: Final = tuple(range(1, most + 1) for most in range(105))

ONE_CARD: Final = Packet(
    "one card", lambda column, build: (1,)[: len(column)], lambda column, count, build: count == 1
)
WHOLE_PILE: Final = Packet(
    "the whole pile, and only as a whole",
    lambda column, build: (len(column),) if column else (),
    lambda column, count, build: count == len(column),
)
ANY_RUN: Final = Packet(
    "any run from the end of the pile, whole or part",
    lambda column, build: _SIZES[build.run(column)],
    lambda column, count, build: build.run(column[-count:]) == count,
)
