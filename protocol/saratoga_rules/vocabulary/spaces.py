"""Rule words for spaces (columns without cards): what fills them.

In some games a space is filled automatically from the reserve or the stock, as part of the move that
made it. When that pile is empty, and in the other games always, the player may fill a space.
"""

from dataclasses import dataclass
from typing import Final

from saratoga_rules.cards import HIDDEN, PACK, Card, rank
from saratoga_rules.piles import Pile


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
    "a king, or a packet headed by one", frozenset(c for c in PACK if rank(c) == 13), _ALL_PILES
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
