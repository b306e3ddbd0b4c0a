"""The style of cards: suit colours, suit symbols, or letters."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from saratoga_client.board_view.roles import Role
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.game import Game
from saratoga_rules.vocabulary.building import Pairing

RED: Final = "HD"

SOLID: Final = {"S": "♠", "H": "♥", "D": "♦", "C": "♣"}
HOLLOW: Final = {"S": "♠", "H": "♡", "D": "♢", "C": "♣"}
"""Suit symbols with outlined red suits, so that red and black differ without colours."""
LETTERS: Final = {"S": "s", "H": "h", "D": "d", "C": "c"}


class SuitColours(StrEnum):
    """The number of suit colours."""

    TWO = "two"
    FOUR = "four"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardStyle:
    """The style of cards that the player chose."""

    suits: SuitColours = SuitColours.TWO
    ascii: bool = False
    """True to use only ASCII letters and lines."""
    hollow: bool = False
    """True to draw red suits as outlines, for screens without colour."""

    def suit(self, letter: str) -> str:
        """Return the symbol of a suit, one cell wide."""
        if self.ascii:
            return LETTERS[letter]
        return (HOLLOW if self.hollow else SOLID)[letter]

    def index(self, card: Card) -> str:
        """Return a card's rank and suit: `K♠`, `10♥`, hollow `10♡`, in ASCII `10h`; `??` if hidden."""
        if card == HIDDEN:
            return "??"
        return ("10" if card[0] == "T" else card[0]) + self.suit(card[1])

    def tone(self, letter: str) -> str:
        """Return a suit's colour, a suffix of role names: `black`, `red`, `club` or `diamond`."""
        if self.suits is SuitColours.FOUR and letter in "CD":
            return "club" if letter == "C" else "diamond"
        return "red" if letter in RED else "black"

    def role(self, card: Card) -> Role:
        """Return the role of the rank and suit of a card without highlight."""
        return Role(f"card-{self.tone(card[1])}")


def suit_colours(game: Game) -> SuitColours:
    """Return the default: four colours for games that build in suit, else two.

    Two colours show best which cards are red and which are black.
    """
    in_suit = game.columns.build.pairing is Pairing.SAME_SUIT
    return SuitColours.FOUR if in_suit else SuitColours.TWO
