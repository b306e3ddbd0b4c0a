"""The search for cards: by what they are called, where they lie, and the keys that name them. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
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

_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_RANK_WORDS: Final = {
    **{letter.lower(): letter for letter in RANKS},
    **{rank_name(number): letter for number, letter in enumerate(RANKS, start=1)},
    **dict(zip(_NUMBERS, RANKS[1:], strict=False)),
    "1": "A",
}
_SUIT_WORDS: Final = {
    word: letter
    for letter, name, signs in zip(
        SUITS, ("clubs", "spades", "hearts", "diamonds"), ("♣♧", "♠♤", "♥♡", "♦♢"), strict=True
    )
    for word in (letter.lower(), name, name[:-1], *signs)
}
_PLURALS: Final = {
    f"{word}{ending}": word for word in _RANK_WORDS if len(word) > 2 for ending in ("s", "es")
}
_SOUGHT: Final = re.compile(
    "(?P<rank>{ranks})?(?P<suit>{suits})?".format(
        ranks="|".join(sorted(_RANK_WORDS, key=len, reverse=True)),
        suits="|".join(sorted(_SUIT_WORDS, key=len, reverse=True)),
    )
)


@lru_cache(maxsize=1 << 8)
def cards_matching(text: str) -> tuple[Card, ...]:
    """Return the cards of a pack that match a rank, a suit or both; none for any other text.

    >>> cards_matching("queen of hearts"), cards_matching("10♦"), len(cards_matching("h"))
    (('QH',), ('TD',), 13)
    >>> cards_matching("kings"), cards_matching("x")
    (('KC', 'KS', 'KH', 'KD'), ())
    """
    plain = re.sub(r"\s+(of\s+)?", "", text.strip().lower())
    found = _SOUGHT.fullmatch(_PLURALS.get(plain, plain))
    if found is None or not plain:
        return ()
    rank, suit = _RANK_WORDS.get(found["rank"] or ""), _SUIT_WORDS.get(found["suit"] or "")
    return tuple(card for card in PACK if rank in (None, card[0]) and suit in (None, card[1]))


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
    """Yield every card whose place the player can know, pile by pile from the bottom."""
    for name in (RESERVE, WASTE, *COLUMN_NAMES[: len(view.columns)]):
        pile = pile_cards(view, name)
        for index, card in enumerate(pile):
            if card != HIDDEN:
                covered_by = pile[index + 1] if index + 1 < len(pile) else None
                yield Found(card, name, len(pile) - 1 - index, covered_by)
    for foundation in foundations(view):
        for above, card in reversed(tuple(enumerate(reversed(foundation.cards)))):
            yield Found(card, foundation.direction, above)


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
    text = f"{'; '.join(places)}."
    seen = f"{len(places)} can be seen"
    while len(text) > LINE and places:
        places.pop()
        text = f"{seen}: {'; '.join(places)}; .."
    return text if places else f"{seen}."


def _place(game: Game, found: Found) -> str:
    if found.pile in (UP, DOWN):
        return banked_words(game, found.pile)
    where = "on" if found.pile in (WASTE, RESERVE) else "in"
    under = f" under {found.above}" if found.above else ""
    return f"{where} {pile_name(game, found.pile)}{under}"


_RANK_KEYS: Final = {
    **{sign: sign for sign in "23456789"},
    "a": "A", "1": "10", "0": "10", "j": "J", "q": "Q", "k": "K",
}  # fmt: skip
_SUIT_KEYS: Final = "chsd"

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
        if key in _RANK_KEYS:
            return replace(self, rank=_RANK_KEYS[key])
        if key in _SUIT_KEYS:
            return replace(self, suit=key.upper())
        if key in ("backspace", "/"):
            return Finder(is_open=True)
        if key == "escape":
            return Finder()
        return replace(self, is_open=False)
