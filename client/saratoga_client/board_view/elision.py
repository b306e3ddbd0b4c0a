"""Which cards of a long column are shown where it has no room for all of them.

The first card stays, so do the cards that head what can be lifted or is, and as much of the end
as there is room for; what lies between is counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """Cards that follow one another and take one row together: one card, or some that are counted."""

    first: int
    """The index of the first of them, from the bottom of the column."""
    count: int = 1


def column_rows(count: int, rows: int, anchors: Iterable[int] = ()) -> tuple[ColumnRow, ...]:
    """What stands in each row of a column of `count` cards that has `rows` rows, at least one.

    `anchors` are indices of cards that are not to be hidden, the most important last.
    """
    if count <= rows:
        return tuple(map(ColumnRow, range(count)))
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
    """The rows when all from `tail` on are shown, and before it the anchors."""
    shown: list[ColumnRow] = []
    reached = 0
    for index in (*sorted({index for index in anchors if index < tail}), tail):
        if index > reached:
            shown.append(ColumnRow(reached, index - reached))
        if index < tail:
            shown.append(ColumnRow(index))
            reached = index + 1
    return (*shown, *map(ColumnRow, range(tail, count)))
