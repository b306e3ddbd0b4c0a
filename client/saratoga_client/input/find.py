"""The search for cards: by what they are called, where they lie, and the keys that name them. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from saratoga_client.input.move_text import (
    LINE,
    CardName,
    card_name,
    foundations,
    pile_cards,
    pile_name,
)
from saratoga_rules.cards import HIDDEN, PACK, RANKS, SUITS, Card, rank_name
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, DOWN, RESERVE, UP, WASTE
from saratoga_rules.position import View


@cache
def _cards_by_words() -> dict[str, tuple[Card, ...]]:
    """Return the cards of a pack by each word for a rank, for a suit, and for both together."""
    numbers = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    ranks = {rank_name(number): letter for number, letter in enumerate(RANKS, start=1)}
    ranks |= dict(zip(numbers, RANKS[1:], strict=False))
    ranks |= {letter.lower(): letter for letter in RANKS} | {"1": "A"}
    names = zip(SUITS, ("club", "spade", "heart", "diamond"), ("♣♧", "♠♤", "♥♡", "♦♢"), strict=True)
    suits = {
        word: letter for letter, name, signs in names for word in (letter.lower(), name, *signs)
    }
    return {
        rank + suit: tuple(c for c in PACK if ranks.get(rank, c[0]) + suits.get(suit, c[1]) == c)
        for rank in ("", *ranks)
        for suit in ("", *suits)
        if rank or suit
    }


def cards_matching(text: str) -> tuple[Card, ...]:
    """Return the cards of a pack that match a rank, a suit or both; none for any other text.

    >>> cards_matching("queen of hearts"), cards_matching("10♦"), len(cards_matching("h"))
    (('QH',), ('TD',), 13)
    >>> cards_matching("kings"), cards_matching("x")
    (('KC', 'KS', 'KH', 'KD'), ())
    """
    words = re.sub(r"\s+(of\s+)?", "", text.strip().lower())
    singular = words.removesuffix("s")
    # "kings" are all kings, "10s" and "ks" are spades.
    return _cards_by_words().get(singular if len(singular) > 2 else words, ())


@dataclass(frozen=True, slots=True)
class Found:
    """The place of a visible card, or of a card that must be banked."""

    card: Card
    pile: str
    """The pile's name in moves; `up` or `down` for a foundation."""
    above: int
    """The number of cards above the card in its pile."""
    covered_by: Card | None = None
    """The next card above the card; `None` for the top card."""


def known_places(view: View) -> Iterator[Found]:
    """Yield every card whose place the player can know: those of each pile from the bottom."""
    piles = [(name, pile_cards(view, name)) for name in (RESERVE, WASTE, *COLUMN_NAMES)]
    piles += [(foundation.direction, foundation.cards) for foundation in foundations(view)]
    for name, pile in piles:
        for above, card, covered_by in zip(
            reversed(range(len(pile))), pile, (*pile[1:], None), strict=False
        ):
            if card != HIDDEN:
                yield Found(card, name, above, covered_by)


def banked_words(game: Game, direction: str) -> str:
    """Return `banked`, followed by the direction if the game has two kinds of foundations."""
    return "banked" if game.down is None else f"banked {direction}"


def found_text(game: Game, view: View, text: str, card_name: CardName = card_name) -> str:
    """Return the places of the searched cards in one line: `7♣ in column 3 under 2; 7♣ banked up`."""
    cards = cards_matching(text)
    if not cards:
        return "Find a card by rank, suit or both, such as 7, h or 10d."
    places = [
        f"{card_name(found.card)} {_place(game, found)}"
        for found in known_places(view)
        if found.card in cards
    ]
    if not places:
        return "No such card can be seen."
    says = f"{'; '.join(places)}."
    seen = f"{len(places)} can be seen: "
    while len(says) > LINE:
        places.pop()
        says = f"{seen}{'; '.join(places)}; .."
    return says


def _place(game: Game, found: Found) -> str:
    if found.pile in (UP, DOWN):
        return banked_words(game, found.pile)
    where = "on" if found.pile in (WASTE, RESERVE) else "in"
    under = f" under {found.above}" if found.above else ""
    return f"{where} {pile_name(game, found.pile)}{under}"


PROMPT: Final = (
    "Find: a 2-9 0 j q k and c h s d name cards; enter keeps them highlighted, esc ends."
)


@dataclass(frozen=True, slots=True)
class Finder:
    """A search for cards: the rank, the suit, and the mode of the keys."""

    rank: str = ""
    suit: str = ""
    is_open: bool = False
    """True while keys name cards; while false, keys play and found cards stay highlighted."""

    @property
    def text(self) -> str:
        """The search in the form of `Marks.find`: `Q`, `H` or `QH`; empty without a search."""
        return self.rank + self.suit

    def press(self, key: str) -> "Finder":
        """Return the search after a key: a rank, a suit, backspace, or a key that ends it."""
        if len(key) == 1 and key in "a234567890jqk1":
            return replace(self, rank="10" if key in "01" else key.upper())
        if len(key) == 1 and key in "chsd":
            return replace(self, suit=key.upper())
        if key in ("backspace", "/"):
            return Finder(is_open=True)
        if key == "escape":
            return Finder()
        return replace(self, is_open=False)
