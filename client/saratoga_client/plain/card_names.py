"""The style of plain lines: names of cards, ranks and suits, and the amount of detail. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from saratoga_rules.cards import HIDDEN, Card, rank, rank_name, suit

SUIT_NAMES: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


@dataclass(frozen=True, slots=True)
class CardNames:
    """The names of cards: two letters (`TH`) or words (`10 of hearts`)."""

    in_words: bool = False

    def card(self, card: Card) -> str:
        """Return the name of one card.

        >>> CardNames().card(Card("TH")), CardNames(in_words=True).card(Card("TH"))
        ('TH', '10 of hearts')
        """
        if card == HIDDEN:
            return "a hidden card"
        if not self.in_words:
            return card
        return f"{rank_name(rank(card))} of {SUIT_NAMES[suit(card)]}"

    def cards(self, cards: Iterable[Card]) -> str:
        """Return the names of several cards of a pile, the lowest card first."""
        return (", " if self.in_words else " ").join(map(self.card, cards))

    def rank(self, number: int) -> str:
        """Return the name of a rank from 1 to 13: `T` or `10`."""
        return rank_name(number) if self.in_words else "A23456789TJQK"[number - 1]

    def suit(self, letter: str) -> str:
        """Return the name of a suit: `H` or `hearts`."""
        return SUIT_NAMES[letter] if self.in_words else letter


LETTERS: Final = CardNames()
"""Cards as two letters, the default."""


@dataclass(frozen=True, slots=True)
class LineStyle:
    """A style of plain lines: the names of cards, and the amount of detail about a race."""

    card_names: CardNames = LETTERS
    is_verbose: bool = False
    """True to write every change of the standings, not only those that concern the player."""
