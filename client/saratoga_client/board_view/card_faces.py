"""Cards, backs and spaces as rows of pieces, in every size.

Rank and suit are part of a card's top border, so a covered card with one visible row still looks
like a card. Selected cards have heavy lines and targets have double lines, so both are visible
without colours.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from saratoga_client.board_view.canvas import Piece
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


Row: TypeAlias = tuple[Piece, ...]
Rows: TypeAlias = tuple[Row, ...]


class Size(NamedTuple):
    """The size of a card in cells."""

    width: int
    height: int


class CardState(StrEnum):
    """The highlight of a card; each value is a prefix of role names."""

    PLAIN = "card"
    FOUND = "found"
    PICKED = "picked"
    TARGET = "target"


class Lines(NamedTuple):
    """The characters of a card's border."""

    across: str
    upright: str
    corners: str
    """The four corners: top left, top right, bottom left, bottom right."""


THIN: Final = Lines("─", "│", "╭╮╰╯")
HEAVY: Final = Lines("━", "┃", "┏┓┗┛")
DOUBLE: Final = Lines("═", "║", "╔╗╚╝")
DASHED: Final = Lines("╌", "╎", "╭╮╰╯")

LINES: Final = {
    CardState.PLAIN: THIN,
    CardState.FOUND: THIN,
    CardState.PICKED: HEAVY,
    CardState.TARGET: DOUBLE,
}

ASCII_LINES: Final = {
    CardState.PLAIN: Lines("-", "|", "++++"),
    CardState.FOUND: Lines("-", "|", "++++"),
    CardState.PICKED: Lines("*", "*", "****"),
    CardState.TARGET: Lines("=", "#", "####"),
}
ASCII_DASHED: Final = Lines("-", ":", "....")

PATTERN: Final = "░"
ASCII_PATTERN: Final = "%"
MORE: Final = "⋮"
ASCII_MORE: Final = ":"


@lru_cache(maxsize=1 << 12)
def card_face(
    card: Card, size: Size, style: CardStyle, state: CardState, whole: bool = True
) -> Rows:
    """Return the rows of a face-up card; `whole` is false if another card covers its right side."""
    lines = (ASCII_LINES if style.ascii else LINES)[state]
    edge = Role(f"{state}-edge")
    corner = Piece(style.index(card), Role(f"{state}-{style.tone(card[1])}"))
    centre = Piece(style.suit(card[1]), corner.role)
    if size.height == 1:
        return (_right(corner, size.width, edge),)
    rest = lines.across * (size.width - 2 - len(corner.text))
    first = (Piece(lines.corners[0], edge), corner, Piece(rest + lines.corners[1], edge))
    last: Row = (Piece(lines.corners[2] + rest, edge), corner, Piece(lines.corners[3], edge))
    if not whole:
        last = (Piece(_bottom(lines, size.width), edge),)
    blank: Row = (_bars(lines, " " * (size.width - 2), edge),)
    middle = [blank] * (size.height - 2)
    if size.height > 4:
        middle[(size.height - 2) // 2] = _centred(lines, centre, size.width, edge)
    return (first, *middle, last)


@lru_cache(maxsize=1 << 12)
def gap_face(count: int, size: Size, style: CardStyle, state: CardState) -> Rows:
    """Return the row that stands for `count` cards of a column."""
    lines = (ASCII_LINES if style.ascii else LINES)[state]
    edge = Role(f"{state}-edge")
    words = f"{ASCII_MORE if style.ascii else MORE}{count}"
    if size.height == 1:
        return ((Piece(words.rjust(size.width), edge),),)
    return ((_bars(lines, words.center(size.width - 2), edge),),)


@lru_cache(maxsize=1 << 10)
def back_face(count: int, size: Size, style: CardStyle) -> Rows:
    """Return the rows of a face-down pile with the number of its cards; 0 shows no number."""
    lines = (ASCII_LINES if style.ascii else LINES)[CardState.PLAIN]
    sign = ASCII_PATTERN if style.ascii else PATTERN
    number = str(count) if count else ""
    back = Role.CARD_BACK
    if size.height == 1:
        return ((Piece(number.rjust(size.width, sign), Role.BACK_COUNT),),)
    inner = size.width - 2
    # A number beside a single pattern character could be misread.
    sign = sign if inner - len(number) > 1 else " "
    left = (inner - len(number)) // 2
    numbered: Row = (
        Piece(lines.upright + sign * left, back),
        Piece(number, Role.BACK_COUNT),
        Piece(sign * (inner - left - len(number)) + lines.upright, back),
    )
    bottom: Row = (Piece(_bottom(lines, size.width), back),)
    if size.height == 2:
        return (numbered, bottom)
    plain: Row = (_bars(lines, sign * inner, back),)
    middle = [plain] * (size.height - 2)
    middle[(size.height - 2) // 2] = numbered
    return ((Piece(_top(lines, size.width), back),), *middle, bottom)


@lru_cache(maxsize=1 << 8)
def back_strip(count: int, size: Size, style: CardStyle) -> Rows:
    """Return the row of a face-down card of a column, or the row that stands for `count` of them."""
    if count > 1 or size.height == 1:
        return back_face(count if count > 1 else 0, Size(size.width, min(size.height, 2)), style)[
            :1
        ]
    lines = (ASCII_LINES if style.ascii else LINES)[CardState.PLAIN]
    sign = ASCII_PATTERN if style.ascii else PATTERN
    return (
        (Piece(lines.corners[0] + sign * (size.width - 2) + lines.corners[1], Role.CARD_BACK),),
    )


@lru_cache(maxsize=1 << 10)
def space_face(words: str, size: Size, style: CardStyle, lit: bool) -> Rows:
    """Return the rows of an empty pile with a word; `lit` is true if it accepts the selected cards."""
    role = Role.SPACE_TARGET if lit else Role.SPACE
    lines = ASCII_DASHED if style.ascii else DASHED
    if lit:
        lines = (ASCII_LINES if style.ascii else LINES)[CardState.TARGET]
    if size.height == 1:
        blank = "_" if style.ascii else "·"
        return ((Piece((words or blank).rjust(size.width), role),),)
    inner = size.width - 2
    worded = (Piece(lines.upright + words.center(inner) + lines.upright, role),)
    bottom = (Piece(_bottom(lines, size.width), role),)
    if size.height == 2:
        return (worded, bottom)
    middle = [(_bars(lines, " " * inner, role),)] * (size.height - 2)
    middle[(size.height - 3) // 2] = worded
    return ((Piece(_top(lines, size.width), role),), *middle, bottom)


def _right(corner: Piece, width: int, edge: Role) -> tuple[Piece, ...]:
    blank = width - len(corner.text)
    return (Piece(" " * blank, edge), corner) if blank > 0 else (corner,)


def _centred(lines: Lines, middle: Piece, width: int, edge: Role) -> tuple[Piece, ...]:
    left = (width - 2 - len(middle.text)) // 2
    right = width - 2 - len(middle.text) - left
    return (
        Piece(lines.upright + " " * left, edge),
        middle,
        Piece(" " * right + lines.upright, edge),
    )


def _bars(lines: Lines, inner: str, role: Role) -> Piece:
    return Piece(lines.upright + inner + lines.upright, role)


def _top(lines: Lines, width: int) -> str:
    return lines.corners[0] + lines.across * (width - 2) + lines.corners[1]


def _bottom(lines: Lines, width: int) -> str:
    return lines.corners[2] + lines.across * (width - 2) + lines.corners[3]
