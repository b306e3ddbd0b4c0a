"""Cards and moves in words, as a message line shows them."""

from typing import Final

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.foundations import rank_at
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, RESERVE, UP, WASTE, Carry, Draw, Move, Redeal
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position

SUIT_SIGNS: Final = {"C": "\u2663", "S": "\u2660", "H": "\u2665", "D": "\u2666", "#": "?"}

_ASCII: Final = str.maketrans({sign: suit.lower() for suit, sign in SUIT_SIGNS.items()})


def card_name(card: Card) -> str:
    """A card as it is shown: `10\u2665`."""
    return card[0].replace("T", "10") + SUIT_SIGNS[card[1]]


def in_ascii(text: str) -> str:
    """The same for terminals without the signs: `10h`."""
    return text.translate(_ASCII)


def carried(position: Position, move: Carry) -> Card:
    """The first card of the packet that a legal move carries."""
    if move.origin >= 0:
        return position.columns[move.origin][-move.count]
    if move.source == WASTE:
        return position.waste[-1]
    if move.source == RESERVE:
        return position.reserve[-1]
    suit = move.source[-1]
    return card_of(rank_at(position.base, position.up[SUITS.index(suit)]), suit)


def pile_words(pile: str) -> str:
    """A pile by the name that moves use for it."""
    if pile == WASTE:
        return "the waste"
    if pile == RESERVE:
        return "the reserve"
    if pile.startswith("t"):
        return f"column {pile[1:]}"
    return "its foundation"


def move_words(game: Game, position: Position, move: Move) -> str:
    """What a legal move does: `bank 7\u2666 from column 4`, `Q\u2663 from the waste onto ..`."""
    match move:
        case Draw():
            return "deal" if game.stock.onto is Pile.COLUMN else "draw"
        case Redeal():
            return "redeal"
        case Carry():
            source = pile_words(move.source)
            card = card_name(carried(position, move))
            if move.target in (UP, DOWN):
                where = f", {move.target}" if position.down else ""
                return f"bank {card} from {source}{where}"
            if move.count > 1:
                card += f" to {card_name(position.columns[move.origin][-1])}"
            column = position.columns[move.destination]
            on = f"onto {card_name(column[-1])}" if column else "into the space"
            return f"{card} from {source} {on} ({pile_words(move.target)})"
