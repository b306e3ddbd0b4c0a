"""Cards, backs and spaces on small canvases, in every size.

Rank and suit are part of a card's top border, so a covered card with one visible row still looks
like a card. Selected cards have heavy lines and targets have double lines, so both are visible
without colours.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.input.move_text import SUIT_SIGNS, rank_sign
from saratoga_rules.cards import Card, rank
from saratoga_rules.game import Game
from saratoga_rules.vocabulary.building import Pairing

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


class CardSymbols(NamedTuple):
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
UNICODE_SYMBOLS: Final = CardSymbols(
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
ASCII_SYMBOLS: Final = CardSymbols(
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
    def symbols(self) -> CardSymbols:
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
) -> Canvas:
    """Draw a face-up card; `whole` is false if another card covers its right side."""
    index, role = style.index(card), style.role(card, state)
    face = _box(style.symbols.lines[state], size, Role(f"{state}-edge"), has_top=True)
    face.put(1 if size.height > 1 else size.width - len(index), 0, index, role)
    if whole and size.height > 1:
        face.put(size.width - 1 - len(index), size.height - 1, index, role)
    if size.height > 4:
        face.put((size.width - 1) // 2, size.height // 2, style.suit(card[1]), role)
    return face


@lru_cache(maxsize=1 << 12)
def gap_face(count: int, size: Size, style: CardStyle, state: CardState) -> Canvas:
    """Draw the row that stands for `count` cards of a column."""
    words, role = f"{style.symbols.more}{count}", Role(f"{state}-edge")
    return _box(style.symbols.lines[state], Size(size.width, min(size.height, 2)), role, words)


@lru_cache(maxsize=1 << 10)
def back_face(count: int, size: Size, style: CardStyle) -> Canvas:
    """Draw a face-down pile with the number of its cards; 0 shows no number."""
    pattern, number = style.symbols.pattern, str(count or "")
    if size.height == 1:
        return _box(_THIN, size, Role.BACK_COUNT, number.rjust(size.width, pattern))
    # A number beside a single pattern character could be misread.
    inner = size.width - 2
    fill = pattern if inner - len(number) > 1 else " "
    face = _box(style.symbols.lines[CardState.PLAIN], size, Role.CARD_BACK, fill=fill)
    y = size.height // 2 if size.height > 2 else 0
    face.put(1 + (inner - len(number)) // 2, y, number, Role.BACK_COUNT)
    return face


@lru_cache(maxsize=1 << 8)
def back_strip(count: int, size: Size, style: CardStyle) -> Canvas:
    """Draw the row of a face-down card of a column, or the row that stands for `count` of them."""
    if count > 1 or size.height == 1:
        return back_face(count if count > 1 else 0, Size(size.width, min(size.height, 2)), style)
    lines = style.symbols.lines[CardState.PLAIN]
    top = Lines(style.symbols.pattern, lines.upright, lines.corners)
    return _box(top, size, Role.CARD_BACK, has_top=True)


@lru_cache(maxsize=1 << 10)
def space_face(words: str, size: Size, style: CardStyle, lit: bool) -> Canvas:
    """Draw an empty pile with a word; `lit` is true if it accepts the selected cards."""
    symbols = style.symbols
    if size.height == 1:
        words = words or symbols.empty
    if lit:
        return _box(symbols.lines[CardState.TARGET], size, Role.SPACE_TARGET, words)
    return _box(symbols.dashed, size, Role.SPACE, words)


def _box(
    lines: Lines,
    size: Size,
    role: Role,
    words: str = "",
    *,
    fill: str = " ",
    has_top: bool = False,
) -> Canvas:
    """Draw a border with words in the middle of an upper row; in one row, only the words.

    Without `has_top`, a box of two rows has no upper border, so that there is room for the words.
    """
    canvas = Canvas(*size, role)
    if size.height == 1:
        canvas.put(0, 0, words.rjust(size.width), role)
        return canvas
    inner = size.width - 2
    top, bottom = (
        ends[0] + lines.across * inner + ends[1] for ends in (lines.corners[:2], lines.corners[2:])
    )
    for y in range(size.height - 1):
        canvas.put(0, y, lines.upright + fill * inner + lines.upright, role)
    if has_top or size.height > 2:
        canvas.put(0, 0, top, role)
    canvas.put(0, size.height - 1, bottom, role)
    if words:
        canvas.put(1, (size.height - 1) // 2, words.center(inner), role)
    return canvas
