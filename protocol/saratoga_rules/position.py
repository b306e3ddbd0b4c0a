"""A position: where every card lies at one moment of a game; and its player's view of it.

Piles are tuples of cards from bottom to top, except the stock, whose first card is drawn next. A
column's face-down cards are kept apart from its face-up ones, so that no rule reads them by
mistake. Foundations are stored as heights, because their suits and first cards are known.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final, NamedTuple, NewType, TypeAlias, TypeVar

from saratoga_rules.cards import HIDDEN, SUITS, Card, format_cards, parse_cards

Cards: TypeAlias = tuple[Card, ...]
Heights: TypeAlias = tuple[int, ...]

_Item = TypeVar("_Item")

NO_CARDS: Final[Cards] = ()


class Position(NamedTuple):
    """A position. It does not name its game."""

    stock: Cards
    """The stock; the card drawn next comes first."""
    waste: Cards
    reserve: Cards
    up: Heights
    """Cards on each foundation built up: suit by suit (`SUITS`), a suit's piles side by side,
    the higher first. Equal piles are interchangeable, so every position has one form only."""
    down: Heights
    """Cards on each foundation built down; empty if the game has none."""
    columns: tuple[Cards, ...]
    """The face-up cards of each column. A column with cards always ends in a face-up one."""
    base: int = 1
    """The rank that starts the foundations built up."""
    passes: int = 1
    """The number of the current pass through the stock; every redeal adds one."""
    face_down: tuple[Cards, ...] = ()
    """The face-down cards under each column's face-up ones; empty if no column has any, so that
    every position has one form only."""

    @property
    def banked(self) -> int:
        """The number of cards on the foundations, including those dealt there: the points."""
        return sum(self.up) + sum(self.down)

    @property
    def face_down_counts(self) -> tuple[int, ...]:
        """The number of face-down cards in each column; empty if no column has any."""
        return tuple(map(len, self.face_down))


View = NewType("View", Position)
"""A position as its own player may see it: every card that the player may not see is `HIDDEN`.

The whole stock is hidden, the reserve except its top card, and the face-down cards of columns.
Every other card was dealt or turned face up. Only `redact` makes a view. Rivals are sent none while
a race runs: the deal is shared, so one racer's visible cards are hidden cards of another's board.
"""

_BACKS: Final = tuple((HIDDEN,) * count for count in range(105))
"""Tuples of hidden cards, by length, up to two packs."""


def redact(position: Position) -> View:
    """Return the position without the cards that the player may not see. A view stays as it is."""
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    shown = _BACKS[len(reserve) - 1] + reserve[-1:] if reserve else reserve
    backs = tuple([_BACKS[len(pile)] for pile in face_down]) if face_down else face_down
    return View(Position(_BACKS[len(stock)], waste, shown, up, down, columns, base, passes, backs))


def with_item(items: tuple[_Item, ...], index: int, item: _Item) -> tuple[_Item, ...]:
    """Return the tuple with one item exchanged."""
    return (*items[:index], item, *items[index + 1 :])


def format_position(position: Position) -> str:
    """Return a position as one line of text, for `parse_position`."""
    return " ".join(
        (
            "stock=" + _pile_text(position.stock),
            "waste=" + _pile_text(position.waste),
            "reserve=" + _pile_text(position.reserve),
            "up=" + _heights_text(position.up),
            "down=" + _heights_text(position.down),
            "columns=" + "/".join(_column_texts(position)),
            f"base={position.base}",
            f"passes={position.passes}",
        )
    )


_POSITION: Final = re.compile(
    "stock=(?P<stock>[^ ]+) waste=(?P<waste>[^ ]+) reserve=(?P<reserve>[^ ]+)"
    " up=(?P<up>[0-9,-]+) down=(?P<down>[0-9,-]+) columns=(?P<columns>[^ ]+)"
    " base=(?P<base>[1-9]|1[0-3]) passes=(?P<passes>[1-9][0-9]{0,8})"
)


def parse_position(text: str) -> Position:
    """Return the position in a line of `format_position`. Raise `ValueError` on other text."""
    match = _POSITION.fullmatch(text)
    if match is None:
        raise ValueError(f"This is not a position: {text!r}.")
    face_down, columns = _parse_columns(match["columns"])
    return Position(
        stock=_parse_pile(match["stock"]),
        waste=_parse_pile(match["waste"]),
        reserve=_parse_pile(match["reserve"]),
        up=_parse_heights(match["up"]),
        down=_parse_heights(match["down"]),
        columns=columns,
        base=int(match["base"]),
        passes=int(match["passes"]),
        face_down=face_down,
    )


def _pile_text(pile: Cards) -> str:
    return format_cards(pile) or "-"


def _parse_pile(text: str) -> Cards:
    if not text:
        raise ValueError("An empty pile is written -.")
    return NO_CARDS if text == "-" else parse_cards(text)


def _column_texts(position: Position) -> Iterator[str]:
    """Yield each column's text: its face-down cards, if any, stand before a `|`."""
    for below, column in zip_longest(position.face_down, position.columns):
        yield f"{format_cards(below)}|{format_cards(column)}" if below else _pile_text(column)


def _parse_columns(text: str) -> tuple[tuple[Cards, ...], tuple[Cards, ...]]:
    """Return the face-down cards (empty if there are none) and the face-up cards of columns."""
    face_down, columns = [], []
    for pile in text.split("/"):
        below, bar, shown = pile.rpartition("|")
        if bar and "-" in (below, shown):
            raise ValueError(f"Face-down cards lie under face-up ones, unlike in {pile!r}.")
        face_down.append(_parse_pile(below) if bar else NO_CARDS)
        columns.append(_parse_pile(shown))
    return tuple(face_down) if any(face_down) else (), tuple(columns)


def _heights_text(heights: Heights) -> str:
    return ",".join(map(str, heights)) or "-"


def _parse_heights(text: str) -> Heights:
    if text == "-":
        return ()
    words = text.split(",")
    if any(not re.fullmatch("[0-9]|1[0-3]", word) for word in words):
        raise ValueError(f"A foundation holds 0 to 13 cards, so {text!r} is not a list of heights.")
    heights = tuple(map(int, words))
    if len(heights) % len(SUITS):
        raise ValueError(f"Every suit has the same number of foundations, unlike in {text!r}.")
    if heights != in_order(heights):
        raise ValueError(f"The higher of a suit's foundations comes first, unlike in {text!r}.")
    return heights


def in_order(heights: Heights) -> Heights:
    """Return the heights with the higher of each suit's piles first."""
    copies = len(heights) // len(SUITS)
    return tuple(
        height
        for first in range(0, len(heights), copies or 1)
        for height in sorted(heights[first : first + copies], reverse=True)
    )
