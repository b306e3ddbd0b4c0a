"""Rule words for building in the columns: which card may be laid on which.

`down(Pairing.ALTERNATE_COLOUR)` equals another value made the same way, and prints as
`down in alternating colours`. The answers for all 52 cards are computed once, when
they are first wanted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from saratoga_rules.cards import HIDDEN, PACK, RANKS, Card, is_red, rank, suit


class Pairing(Enum):
    """A rule about suits: which suit may be laid on which."""

    ANY_SUIT = "in any suit"
    SAME_SUIT = "in suit"
    ALTERNATE_COLOUR = "in alternating colours"

    def __call__(self, lower: Card, card: Card) -> bool:
        match self:
            case Pairing.ANY_SUIT:
                return True
            case Pairing.SAME_SUIT:
                return suit(lower) == suit(card)
            case Pairing.ALTERNATE_COLOUR:
                return is_red(lower) != is_red(card)

    def __str__(self) -> str:
        return self.value


_OF_RANK: Final = {
    number: tuple(card for card in PACK if rank(card) == number)
    for number in range(1, len(RANKS) + 1)
}


@dataclass(frozen=True)
class Build:
    """A building rule: the steps in rank from card to card, and the pairing of suits."""

    steps: tuple[int, ...]
    pairing: Pairing
    around_the_corner: bool
    """True if a king may be laid on an ace, as if the ranks formed a ring."""

    @cached_property
    def onto(self) -> Mapping[Card, frozenset[Card]]:
        """For every card, the cards that may be laid on it; none on a hidden card."""
        return {card: frozenset(self._followers(card)) for card in PACK} | {HIDDEN: frozenset()}

    @cached_property
    def under(self) -> Mapping[Card, frozenset[Card]]:
        """For every card, the cards that it may be laid on."""
        return {
            card: frozenset(lower for lower in PACK if card in self.onto[lower])
            for card in (*PACK, HIDDEN)
        }

    def __str__(self) -> str:
        return self._in_words(", around the corner (a king on an ace)")

    @property
    def brief(self) -> str:
        """The rule in a few words, for a line of the screen."""
        return self._in_words(", K on A")

    def _in_words(self, corner: str) -> str:
        directions = " or ".join("up" if step > 0 else "down" for step in self.steps)
        return f"{directions} {self.pairing}{corner if self.around_the_corner else ''}"

    def run(self, column: tuple[Card, ...]) -> int:
        """Return the length of the run at the end of a column; 0 for a space."""
        if not column:
            return 0
        onto, start = self.onto, len(column) - 1
        while start and column[start] in onto[column[start - 1]]:
            start -= 1
        return len(column) - start

    def _followers(self, lower: Card) -> Iterator[Card]:
        for step in self.steps:
            wanted = rank(lower) + step
            if self.around_the_corner:
                wanted = (wanted - 1) % len(RANKS) + 1
            for card in _OF_RANK.get(wanted, ()):
                if self.pairing(lower, card):
                    yield card


def down(pairing: Pairing, *, around_the_corner: bool = False) -> Build:
    """Return the rule that every card is one rank lower than the card it lies on."""
    return Build((-1,), pairing, around_the_corner)


def up_or_down(pairing: Pairing) -> Build:
    """Return the rule that every card is one rank higher or lower, changing as it likes."""
    return Build((1, -1), pairing, around_the_corner=False)
