"""Rule words for the deal: each is one step that lays out cards before the first move.

The steps take cards from the front of the shuffled deck, except `AcesAndKings`, which picks its
cards out of the whole deck. The cards that are left become the stock.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from saratoga_rules.cards import SUITS, Card, rank, suit
from saratoga_rules.position import Position


@dataclass
class DealBuilder:
    """The deck and the piles while a deal is being laid out."""

    deck: list[Card]
    """The cards not dealt yet, the next card first."""
    columns: list[list[Card]]
    up: list[int]
    down: list[int]
    reserve: list[Card] = field(default_factory=list)
    base: int = 1
    face_down: list[list[Card]] = field(init=False)
    """The face-down cards under each column."""

    def __post_init__(self) -> None:
        self.face_down = [[] for _ in self.columns]

    def take(self, count: int) -> list[Card]:
        """Remove and return the next cards of the deck."""
        taken, self.deck = self.deck[:count], self.deck[count:]
        return taken

    def position(self) -> Position:
        """Return the opening position; the cards not dealt are the stock."""
        return Position(
            stock=tuple(self.deck),
            waste=(),
            reserve=tuple(self.reserve),
            up=tuple(self.up),
            down=tuple(self.down),
            columns=tuple(map(tuple, self.columns)),
            base=self.base,
            face_down=tuple(map(tuple, self.face_down)) if any(self.face_down) else (),
        )


DealStep: TypeAlias = Callable[[DealBuilder], None]


@dataclass(frozen=True)
class ToReserve:
    """A step that deals cards to the reserve; the last of them is its top."""

    count: int

    def __call__(self, layout: DealBuilder) -> None:
        layout.reserve += layout.take(self.count)

    def __str__(self) -> str:
        return f"{self.count} cards to the reserve, only the top one known"


@dataclass(frozen=True)
class BaseCard:
    """A step that deals the base card to its foundation; its rank starts all foundations."""

    def __call__(self, layout: DealBuilder) -> None:
        (card,) = layout.take(1)
        layout.base = rank(card)
        layout.up[_first_pile(layout.up, card)] = 1

    def __str__(self) -> str:
        return "one card, the base card, to its foundation"


@dataclass(frozen=True)
class ToColumns:
    """A step that deals rows of face-up cards, one to each column, from the left."""

    rows: int

    def __call__(self, layout: DealBuilder) -> None:
        for _ in range(self.rows):
            for column, card in zip(layout.columns, layout.take(len(layout.columns)), strict=True):
                column.append(card)

    def __str__(self) -> str:
        return f"{self.rows} face up to each column"


@dataclass(frozen=True)
class Triangle:
    """A step that deals a row for each column, from that column to the last.

    The first card of a row lies face up and ends its column. The others lie face down.
    """

    def __call__(self, layout: DealBuilder) -> None:
        for first, column in enumerate(layout.columns):
            shown, *others = layout.take(len(layout.columns) - first)
            column.append(shown)
            for pile, card in zip(layout.face_down[first + 1 :], others, strict=True):
                pile.append(card)

    def __str__(self) -> str:
        return "one card to the first column, two to the second and so on, only the last face up"


@dataclass(frozen=True)
class AcesAndKings:
    """A step that starts the foundations with the first ace and king of each suit in the deck."""

    def __call__(self, layout: DealBuilder) -> None:
        for first, heights in ((1, layout.up), (13, layout.down)):
            for letter in SUITS:
                card = next(c for c in layout.deck if rank(c) == first and suit(c) == letter)
                layout.deck.remove(card)
                heights[_first_pile(heights, card)] = 1

    def __str__(self) -> str:
        return "an ace and a king of each suit to the foundations"


def _first_pile(heights: Sequence[int], card: Card) -> int:
    return SUITS.index(suit(card)) * (len(heights) // len(SUITS))
