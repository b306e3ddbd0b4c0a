"""Rule words for the foundations: piles to be completed one card at a time, each in one suit.

Which cards the foundations take next depends only on their heights, so the answer is cached for
every set of heights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.position import Cards, Heights


class First(Enum):
    """The card that starts a foundation."""

    ACE = "the ace"
    KING = "the king"
    BASE_CARD = "the rank of the base card, which the deal turns up"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Foundations:
    """A group of foundations: one or more piles for every suit, thirteen cards each."""

    direction: str
    first: First
    for_each_suit: int = 1
    gives_back: bool = False
    """True if the top card may be taken back into a column; the first card never may."""

    def __post_init__(self) -> None:
        if self.gives_back and self.for_each_suit > 1:
            raise ValueError("Cards can only be taken back if every suit has one foundation.")

    @property
    def piles(self) -> int:
        return len(SUITS) * self.for_each_suit

    def __str__(self) -> str:
        corner = ", around the corner (an ace on a king)" if self.first is First.BASE_CARD else ""
        back = "; their top cards may come back, but for the first" if self.gives_back else ""
        return f"{self.piles} built {self.direction} in suit from {self.first}{corner}{back}"


def up_from(first: First, *, for_each_suit: int = 1, gives_back: bool = False) -> Foundations:
    """Return foundations on which every card is one rank higher than the card under it."""
    return Foundations("up", first, for_each_suit, gives_back)


def down_from(first: First, *, for_each_suit: int = 1) -> Foundations:
    """Return foundations on which every card is one rank lower than the card under it."""
    return Foundations("down", first, for_each_suit)


def rank_at(base: int, height: int) -> int:
    """Return the rank of the card at a height (from 1) on a foundation built up from `base`."""
    return (base + height - 2) % 13 + 1


BUILT_UP: Final[Mapping[int, tuple[Cards, ...]]] = {
    base: tuple(
        tuple(card_of(rank_at(base, height), letter) for height in range(1, 14)) for letter in SUITS
    )
    for base in range(1, 14)
}
"""The thirteen cards of a foundation built up, in order: by the base, then by the suit's index."""

_BUILT_DOWN: Final = tuple(cards[::-1] for cards in BUILT_UP[1])


@lru_cache(maxsize=1 << 9)
def wanted_up(up: Heights, base: int) -> Mapping[Card, int]:
    """Return each card that a foundation built up takes next, with that foundation's index."""
    return _wanted(up, BUILT_UP[base])


@lru_cache(maxsize=1 << 9)
def wanted_down(down: Heights) -> Mapping[Card, int]:
    """Return the same for the foundations built down."""
    return _wanted(down, _BUILT_DOWN)


def _wanted(heights: Heights, built: tuple[Cards, ...]) -> Mapping[Card, int]:
    copies = len(heights) // len(SUITS)
    # of two equal piles the first takes it, so that the higher one stays first
    return {
        built[index // copies][height]: index
        for index, height in reversed(tuple(enumerate(heights)))
        if height < 13
    }


@lru_cache(maxsize=1 << 9)
def wanted_cards(up: Heights, base: int, down: Heights) -> frozenset[Card]:
    """Return every card that some foundation takes next."""
    return frozenset((*wanted_up(up, base), *wanted_down(down)))
