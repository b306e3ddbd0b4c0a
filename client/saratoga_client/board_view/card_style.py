"""How cards are to look: by colours, by shapes, or by letters."""

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
"""Red suits as outlines: alternating colours can be told apart without any colour."""
LETTERS: Final = {"S": "s", "H": "h", "D": "d", "C": "c"}


class SuitColours(StrEnum):
    """How many colours the suits have."""

    TWO = "two"
    FOUR = "four"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardStyle:
    """What the player wants cards to look like."""

    suits: SuitColours = SuitColours.TWO
    ascii: bool = False
    """Letters and plain lines only."""
    hollow: bool = False
    """Hollow red suits, for screens without colour."""
    background: bool = True
    """Whether the table has a colour of its own, or the terminal's."""

    def suit(self, letter: str) -> str:
        """The sign of a suit, one cell wide."""
        if self.ascii:
            return LETTERS[letter]
        return (HOLLOW if self.hollow else SOLID)[letter]

    def index(self, card: Card) -> str:
        """A card by its corner: `K♠`, `10♥`, without colours `10♡`, in letters `10h`."""
        if card == HIDDEN:
            return "??"
        return ("10" if card[0] == "T" else card[0]) + self.suit(card[1])

    def tone(self, letter: str) -> str:
        """The colour of a suit, as the roles' names end: `black`, `red`, `club`, `diamond`."""
        if self.suits is SuitColours.FOUR and letter in "CD":
            return "club" if letter == "C" else "diamond"
        return "red" if letter in RED else "black"

    def role(self, card: Card) -> Role:
        """The role of a card's corner while nothing is lit."""
        return Role(f"card-{self.tone(card[1])}")


def suit_colours(game: Game) -> SuitColours:
    """Four where columns are built in suit, so that suits must be told apart; else two.

    More colours than two hide which cards are red and which are black.
    """
    in_suit = game.columns.build.pairing is Pairing.SAME_SUIT
    return SuitColours.FOUR if in_suit else SuitColours.TWO


def default_look(game: Game) -> CardStyle:
    """A game's look before the player has said anything."""
    return CardStyle(suits=suit_colours(game))
