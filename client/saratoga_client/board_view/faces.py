"""Cards, backs and spaces as rows of pieces, in every size.

Rank and suit are part of a card's top border, so a covered card with one visible row still looks
like a card. Selected cards have heavy lines and targets have double lines, so both are visible
without colours.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from saratoga_client.board_view.canvas import Piece, Row
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import SUIT_SIGNS, rank_sign
from saratoga_rules.cards import Card, rank
from saratoga_rules.game import Game
from saratoga_rules.vocabulary.building import Pairing

Rows: TypeAlias = tuple[Row, ...]

HOLLOW: Final = {"S": "♠", "H": "♡", "D": "♢", "C": "♣"}
"""Suit symbols with outlined red suits, so that red and black differ without colours."""


class SuitColours(StrEnum):
    """The number of suit colours."""

    TWO = "two"
    FOUR = "four"


class Size(NamedTuple):
    """The size of a card in cells."""

    width: int
    height: int


class CardState(StrEnum):
    """The highlight of a card; each value is a prefix of role names."""

    PLAIN = "card"
    PICKED = "picked"
    TARGET = "target"
    FOUND = "found"


class Lines(NamedTuple):
    """The characters of a border."""

    across: str
    upright: str
    corners: str
    """The four corners: top left, top right, bottom left, bottom right."""


class Symbols(NamedTuple):
    """The characters of cards and piles."""

    lines: dict[CardState, Lines]
    dashed: Lines
    """The border of an empty pile."""
    pattern: str
    """The back of a card."""
    more: str
    """The sign before the number of cards that are not shown."""
    empty: str
    """An empty pile of one-row cards."""
    redeal: str
    marks: dict[CardState, str]
    """The mark before a selected or accepting one-row card."""


_THIN, _LETTERS = Lines("─", "│", "╭╮╰╯"), Lines("-", "|", "++++")
UNICODE_SYMBOLS: Final = Symbols(
    lines={
        CardState.PLAIN: _THIN,
        CardState.FOUND: _THIN,
        CardState.PICKED: Lines("━", "┃", "┏┓┗┛"),
        CardState.TARGET: Lines("═", "║", "╔╗╚╝"),
    },
    dashed=Lines("╌", "╎", "╭╮╰╯"),
    pattern="░",
    more="⋮",
    empty="·",
    redeal="↻",
    marks={CardState.PICKED: "▐", CardState.TARGET: "→"},
)
ASCII_SYMBOLS: Final = Symbols(
    lines={
        CardState.PLAIN: _LETTERS,
        CardState.FOUND: _LETTERS,
        CardState.PICKED: Lines("*", "*", "****"),
        CardState.TARGET: Lines("=", "#", "####"),
    },
    dashed=Lines("-", ":", "...."),
    pattern="%",
    more=":",
    empty="_",
    redeal="@",
    marks={CardState.PICKED: "*", CardState.TARGET: ">"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardStyle:
    """The style of cards that the player chose."""

    suits: SuitColours = SuitColours.TWO
    ascii: bool = False
    """True to use only ASCII letters and lines."""
    hollow: bool = False
    """True to draw red suits as outlines, for screens without colour."""

    @property
    def symbols(self) -> Symbols:
        return ASCII_SYMBOLS if self.ascii else UNICODE_SYMBOLS

    def suit(self, letter: str) -> str:
        """Return the symbol of a suit, one cell wide."""
        if self.ascii:
            return letter.lower()
        return (HOLLOW if self.hollow else SUIT_SIGNS)[letter]

    def index(self, card: Card) -> str:
        """Return a card's rank and suit: `K♠`, `10♥`, hollow `10♡`, in ASCII `10h`."""
        return rank_sign(rank(card)) + self.suit(card[1])

    def role(self, card: Card, state: CardState = CardState.PLAIN) -> Role:
        """Return the role of the rank and suit of a card."""
        letter = card[1]
        if self.suits is SuitColours.FOUR and letter in "CD":
            return Role(f"{state}-{'club' if letter == 'C' else 'diamond'}")
        return Role(f"{state}-{'red' if letter in 'HD' else 'black'}")


def suit_colours(game: Game) -> SuitColours:
    """Return the default: four colours for games that build in suit, else two.

    Two colours show best which cards are red and which are black.
    """
    in_suit = game.columns.build.pairing is Pairing.SAME_SUIT
    return SuitColours.FOUR if in_suit else SuitColours.TWO


@lru_cache(maxsize=1 << 12)
def card_face(
    card: Card, size: Size, style: CardStyle, state: CardState, whole: bool = True
) -> Rows:
    """Return the rows of a face-up card; `whole` is false if another card covers its right side."""
    lines, edge = style.symbols.lines[state], Role(f"{state}-edge")
    corner = Piece(style.index(card), style.role(card, state))
    if size.height == 1:
        return ((Piece(" " * (size.width - len(corner.text)), edge), corner),)
    centre = Piece(style.suit(card[1]) if size.height > 4 else "", corner.role)
    rows = _box(lines, size, edge, centre, (size.height - 2) // 2)
    rest = lines.across * (size.width - 2 - len(corner.text))
    first = (Piece(lines.corners[0], edge), corner, Piece(rest + lines.corners[1], edge))
    last = (Piece(lines.corners[2] + rest, edge), corner, Piece(lines.corners[3], edge))
    return (first, *rows[1:-1], last if whole else rows[-1])


@lru_cache(maxsize=1 << 12)
def gap_face(count: int, size: Size, style: CardStyle, state: CardState) -> Rows:
    """Return the row that stands for `count` cards of a column."""
    words, edge = f"{style.symbols.more}{count}", Role(f"{state}-edge")
    if size.height == 1:
        return ((Piece(words.rjust(size.width), edge),),)
    upright = style.symbols.lines[state].upright
    return ((Piece(upright + words.center(size.width - 2) + upright, edge),),)


@lru_cache(maxsize=1 << 10)
def back_face(count: int, size: Size, style: CardStyle) -> Rows:
    """Return the rows of a face-down pile with the number of its cards; 0 shows no number."""
    symbols, number = style.symbols, str(count or "")
    if size.height == 1:
        return ((Piece(number.rjust(size.width, symbols.pattern), Role.BACK_COUNT),),)
    # A number beside a single pattern character could be misread.
    fill = symbols.pattern if size.width - 2 - len(number) > 1 else " "
    lines = symbols.lines[CardState.PLAIN]
    text = Piece(number, Role.BACK_COUNT)
    return _box(lines, size, Role.CARD_BACK, text, (size.height - 2) // 2, fill)


@lru_cache(maxsize=1 << 8)
def back_strip(count: int, size: Size, style: CardStyle) -> Rows:
    """Return the row of a face-down card of a column, or the row that stands for `count` of them."""
    if count > 1 or size.height == 1:
        flat = Size(size.width, min(size.height, 2))
        return back_face(count if count > 1 else 0, flat, style)[:1]
    corners = style.symbols.lines[CardState.PLAIN].corners
    inner = style.symbols.pattern * (size.width - 2)
    return ((Piece(corners[0] + inner + corners[1], Role.CARD_BACK),),)


@lru_cache(maxsize=1 << 10)
def space_face(words: str, size: Size, style: CardStyle, lit: bool) -> Rows:
    """Return the rows of an empty pile with a word; `lit` is true if it accepts the selected cards."""
    symbols = style.symbols
    role, lines = Role.SPACE, symbols.dashed
    if lit:
        role, lines = Role.SPACE_TARGET, symbols.lines[CardState.TARGET]
    if size.height == 1:
        return ((Piece((words or symbols.empty).rjust(size.width), role),),)
    text = Piece(words.center(size.width - 2), role)
    return _box(lines, size, role, text, max(0, size.height - 3) // 2)


def _box(lines: Lines, size: Size, role: Role, text: Piece, row: int, fill: str = " ") -> Rows:
    """Return a border with a text in the middle of its inner row `row`; without room, no top."""
    inner = size.width - 2
    left = (inner - len(text.text)) // 2
    right = inner - left - len(text.text)
    middle: list[Row] = [(Piece(lines.upright + fill * inner + lines.upright, role),)]
    middle *= max(1, size.height - 2)
    middle[row] = (
        Piece(lines.upright + fill * left, role),
        text,
        Piece(fill * right + lines.upright, role),
    )
    top, bottom = (
        (Piece(ends[0] + lines.across * inner + ends[1], role),)
        for ends in (lines.corners[:2], lines.corners[2:])
    )
    return (*((top,) if size.height > 2 else ()), *middle, bottom)
