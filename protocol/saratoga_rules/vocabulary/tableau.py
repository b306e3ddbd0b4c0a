"""Rule words for the tableau: what a game says of its columns.

A packet is the face-up cards of a column that are lifted together; foundations always take one card
at a time. A space is a column without cards. In some games it is filled automatically from the
reserve or the stock, as part of the move that made it. When that pile is empty, and in the other
games always, the player may fill it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from saratoga_rules.cards import HIDDEN, PACK, Card, rank
from saratoga_rules.piles import Pile
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


@dataclass(frozen=True)
class SpaceRule:
    """The cards allowed into a space, and from which piles. A packet's first card decides."""

    words: str
    cards: frozenset[Card]
    sources: tuple[Pile, ...]

    def __call__(self, source: Pile, card: Card) -> bool:
        return card in self.cards and source in self.sources

    def cards_from(self, source: Pile) -> frozenset[Card]:
        """Return the cards that may go from a pile into a space."""
        return self.cards if source in self.sources else frozenset()

    def __str__(self) -> str:
        return self.words


_ALL_CARDS: Final = frozenset((*PACK, HIDDEN))
_ALL_PILES: Final = (Pile.WASTE, Pile.RESERVE, Pile.COLUMN, Pile.FOUNDATION)

ANYTHING: Final = SpaceRule("anything that may be carried", _ALL_CARDS, _ALL_PILES)
KINGS: Final = SpaceRule(
    "a king, with all on it", frozenset(c for c in PACK if rank(c) == 13), _ALL_PILES
)


def only_from(pile: Pile) -> SpaceRule:
    """Return the rule that any card may go into a space, but only from one family of piles."""
    return SpaceRule(f"only the top card of {pile}", _ALL_CARDS, (pile,))


@dataclass(frozen=True)
class Space:
    """The rule for filling spaces."""

    admits: SpaceRule
    """The cards that the player may put into a space."""
    filled_from: Pile | None = None
    """The pile (reserve or stock) whose next card fills a space automatically, if any."""

    def __str__(self) -> str:
        if self.filled_from is None:
            return f"{self.admits}"
        return f"filled at once from {self.filled_from}; when that is gone, {self.admits}"


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The rules of the columns: their number, building, packets and spaces."""

    count: int
    build: Build
    packet: Packet
    space: Space
