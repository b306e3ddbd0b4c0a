"""How cards and piles are said."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from saratoga_rules.cards import HIDDEN, Card, rank, rank_name, suit

SUIT_NAMES: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


@dataclass(frozen=True, slots=True)
class CardNames:
    """Cards as two letters, `TH`, or in words, `10 of hearts`."""

    in_words: bool = False

    def card(self, card: Card) -> str:
        """One card.

        >>> Tongue().card(Card("TH")), Tongue(in_words=True).card(Card("TH"))
        ('TH', '10 of hearts')
        """
        if card == HIDDEN:
            return "a hidden card"
        if not self.in_words:
            return card
        return f"{rank_name(rank(card))} of {SUIT_NAMES[suit(card)]}"

    def cards(self, cards: Iterable[Card]) -> str:
        """Several, the lowest in the pile first."""
        return (", " if self.in_words else " ").join(map(self.card, cards))

    def rank(self, number: int) -> str:
        """A rank from 1 to 13: `T` or `10`."""
        return rank_name(number) if self.in_words else "A23456789TJQK"[number - 1]

    def suit(self, letter: str) -> str:
        return SUIT_NAMES[letter] if self.in_words else letter


LETTERS: Final = CardNames()
