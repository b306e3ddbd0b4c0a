"""The rows of a column that is too long for the screen.

The first face-up card, the first one that can be lifted, the first selected one and as many of the last
cards as fit are shown. A number stands for the cards between, another one for all face-down cards.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """A row of a column: one card, or a number that stands for `count` consecutive cards."""

    first: int
    """The index of the first card, from the bottom of the face-up cards; negative if it is face down."""
    count: int = 1


def column_rows(
    count: int, rows: int, anchors: Iterable[int] = (), below: int = 0
) -> tuple[ColumnRow, ...]:
    """Return the rows of a column of `count` cards: at most `rows`, but at least one for any cards.

    `below` is the number of face-down cards under them. `anchors` are the indices of cards that should
    stay visible, the most important last.
    """
    if below + count <= rows:
        return tuple(map(ColumnRow, range(-below, count)))
    if below and rows > 1:
        return (ColumnRow(-below, below), *column_rows(count, rows - 1, anchors))
    kept = [index for index in anchors if 0 <= index < count]
    while True:
        for tail in range(1, count):
            shown = _with_tail(count, tail, kept)
            if len(shown) <= rows:
                return shown
        if not kept:
            return (
                (ColumnRow(0, count - 1), ColumnRow(count - 1))[-rows:]
                if rows > 1
                else (ColumnRow(count - 1),)
            )
        kept.pop(0)


def _with_tail(count: int, tail: int, anchors: list[int]) -> tuple[ColumnRow, ...]:
    """Return the rows that show all cards from index `tail` on, and before it only the anchors."""
    shown: list[ColumnRow] = []
    reached = 0
    for index in (*sorted({index for index in anchors if index < tail}), tail):
        if index > reached:
            shown.append(ColumnRow(reached, index - reached))
        if index < tail:
            shown.append(ColumnRow(index))
            reached = index + 1
    return (*shown, *map(ColumnRow, range(tail, count)))
