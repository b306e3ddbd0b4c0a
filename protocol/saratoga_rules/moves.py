"""Moves and their text, the same on the wire, in records and on the screen.

`draw` turns cards of the stock onto the waste or deals them to the columns, `redeal` turns the
waste over, and `SRC>DST[:n]` carries `n` cards. SRC is `w` (the waste), `r` (the reserve), a column
`t1`, `t2`, .. or `up.S` (a card taken back from the spade foundation). DST is a column, `up` or
`down`: a foundation of the card's suit that is built up or down. `:n` is written only above 1. A
move names piles, never cards, so the text does not reveal which cards lie there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

from saratoga_rules.cards import SUITS

WASTE: Final = "w"
RESERVE: Final = "r"
UP: Final = "up"
DOWN: Final = "down"

COLUMN_NAMES: Final = tuple(f"t{number}" for number in range(1, 100))
"""The name of each column, by its index in `Position.columns`."""

COLUMN_INDEX: Final = {name: index for index, name in enumerate(COLUMN_NAMES)}
"""The index of each column in `Position.columns`, by the column's name; no other piles are keys."""

TAKE_BACK_INDEX: Final = {f"up.{suit}": index for index, suit in enumerate(SUITS)}
"""The index in `SUITS` of a foundation's suit, by the foundation's name as the source of a move."""


@dataclass(frozen=True, slots=True)
class Draw:
    """A move that turns cards of the stock onto the waste, or deals them to the columns."""

    text: str = field(default="draw", init=False, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Redeal:
    """A move that turns the waste over: the waste becomes the stock again."""

    text: str = field(default="redeal", init=False, repr=False, compare=False)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Carry:
    """A move that carries the top `count` cards of a pile onto another."""

    source: str
    target: str
    count: int = 1

    origin: int = field(init=False, repr=False, compare=False)
    """The source's index in `Position.columns`; -1 if the source is not a column."""
    destination: int = field(init=False, repr=False, compare=False)
    """The target's index in `Position.columns`; -1 if the target is not a column."""
    text: str = field(init=False, repr=False, compare=False)
    """The text that `parse_move` reads; computed once, since legal moves are listed often."""

    def __post_init__(self) -> None:
        packet = f":{self.count}" if self.count > 1 else ""
        object.__setattr__(self, "origin", COLUMN_INDEX.get(self.source, -1))
        object.__setattr__(self, "destination", COLUMN_INDEX.get(self.target, -1))
        object.__setattr__(self, "text", f"{self.source}>{self.target}{packet}")

    def __str__(self) -> str:
        return self.text


Move: TypeAlias = Draw | Redeal | Carry

DRAW: Final = Draw()
REDEAL: Final = Redeal()

_CARRY: Final = re.compile(
    "(?P<source>w|r|t[1-9][0-9]?|up[.][CSHD])>(?P<target>up|down|t[1-9][0-9]?)"
    "(?::(?P<count>[2-9]|[1-9][0-9]))?"
)


class _Carries(dict[tuple[str, str, int], Carry]):
    """The carries that have been legal, by source, target and count; made when first asked for."""

    def __missing__(self, key: tuple[str, str, int]) -> Carry:
        carry = self[key] = Carry(*key)
        return carry


CARRY: Final[Mapping[tuple[str, str, int], Carry]] = _Carries()
"""The carries of which legal moves are made, since they recur. No text from a client adds one."""


@lru_cache(maxsize=1 << 13)
def parse_move(text: str) -> Move:
    """Return the move that a text such as `t3>t5:4` names. Raise `ValueError` if it names none."""
    if text == "draw":
        return DRAW
    if text == "redeal":
        return REDEAL
    match = _CARRY.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{text[:40]!r} is not a move. A move is draw, redeal, or one such as t3>t5:4, w>up, r>t2."
        )
    return Carry(match["source"], match["target"], int(match["count"] or 1))
