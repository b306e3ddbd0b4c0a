"""Playing cards as plain text: a rank and a suit, such as `TH` for the ten of hearts.

A card is a string of two characters, so that it can be compared, hashed, sent and read as it is.
Every function here returns the same string object for the same card.
"""

from collections.abc import Iterable
from typing import Final, NewType

Card = NewType("Card", str)
"""A card: rank (`A23456789TJQK`) and suit (`CSHD`); of two packs, both copies are equal."""

SUITS: Final = "CSHD"
"""The letters of the suits: clubs, spades (black), hearts, diamonds (red)."""

RANKS: Final = "A23456789TJQK"

HIDDEN: Final = Card("##")
"""A card that the player may not see: it has no rank and no suit, and fits nowhere."""

PACK: Final = tuple(Card(rank + suit) for suit in SUITS for rank in RANKS)
"""The 52 cards, suit by suit from ace to king: the order before shuffling."""

_RANK_OF: Final = {card: RANKS.index(card[0]) + 1 for card in PACK}
_CARD_OF: Final = {str(card): card for card in (*PACK, HIDDEN)}


def rank(card: Card) -> int:
    """Return a card's rank, from 1 (ace) to 13 (king); raise `KeyError` for a hidden card."""
    return _RANK_OF[card]


def suit(card: Card) -> str:
    """Return a card's suit, one of `SUITS`; `#` for a hidden card."""
    return card[1]


def is_red(card: Card) -> bool:
    return card[1] in "HD"


def card_of(rank: int, suit: str) -> Card:
    """Return the card of a rank (1 to 13) and a suit."""
    return _CARD_OF[RANKS[rank - 1] + suit]


def rank_name(rank: int) -> str:
    """Return a rank in words: `ace`, `7`, `queen`."""
    return {1: "ace", 11: "jack", 12: "queen", 13: "king"}.get(rank, str(rank))


def parse_cards(text: str) -> tuple[Card, ...]:
    """Return the cards in a text, with or without spaces: `KSTH`, `KS TH`, `## 7C`.

    Raise `ValueError` if the text names no card.
    """
    packed = text.replace(" ", "")
    try:
        return tuple(_CARD_OF[packed[at : at + 2]] for at in range(0, len(packed), 2))
    except KeyError as unknown:
        raise ValueError(f"There is no card {unknown} in {text!r}.") from None


def format_cards(cards: Iterable[Card]) -> str:
    """Return the cards as text, such as `KSTH`, for `parse_cards`."""
    return "".join(cards)
