"""A chart of banked cards over time on a canvas, with one line for each racer. Pure.

Each line has its racer's colour, and its label at the right. Where lines meet, the better place is
shown. Terminals that have only letters show the digit of the place. Dots mark the break-even count.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import LETTERS, Role, Symbols
from saratoga_client.review.boards import Climb
from saratoga_client.text import cells_of
from saratoga_client.wording import MoneyMeter, minutes_and_seconds

DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The dots of a braille character by row and column."""

MARKS: Final = "123456789abcdefg"
"""The letters of a line by its place, for terminals that have only letters."""

BRAILLE: Final = 0x2800

ROOMY: Final = 60
"""Minimum width of a chart, in cells, that names its break-even line and the middle of its time."""


class Line(NamedTuple):
    """The line of a racer in a chart."""

    place: int
    label: str
    """The text at the right; empty for none."""
    climb: Climb
    role: Role


class TimeAxis(NamedTuple):
    """The cells of a chart's time."""

    left: int
    """The column of the start."""
    columns: int
    end: int
    """The time of the last column, in milliseconds since the deal."""

    def column(self, at: int) -> int:
        """Return the column of a time."""
        return self.left + at * (self.columns - 1) // self.end


def draw_chart(
    canvas: Canvas,
    box: tuple[int, int, int, int],
    lines: Sequence[Line],
    money: MoneyMeter,
    symbols: Symbols,
) -> TimeAxis:
    """Draw lines, given in order of place, into a box of a column, a row, a width and a height; the last row has the times."""
    x, y, width, height = box
    even = f"{money.even} {money.even_word}" if width >= ROOMY else f"{money.even}"
    left = len(even) + 1
    right = max((cells_of(line.label) + 1 for line in lines if line.label), default=0)
    columns, rows = max(width - left - right, 2), max(height - 1, 2)
    is_ascii = symbols is LETTERS
    across, up = (1, 1) if is_ascii else (2, 4)
    end = max([1, *(line.climb.end for line in lines)])
    climbs = [line.climb for line in lines]
    top = max(
        money.even, 1, *(n for each in climbs for n in (each.start, *dict(each.counts).values()))
    )

    def level(banked: int) -> int:
        """Return the row of a count, in dots from above."""
        return rows * up - 1 - round(banked * (rows * up - 1) / top)

    at_even = level(money.even) // up
    for count, text in ((0, "0"), (top, f"{top}"), (money.even, even)):
        canvas.put(x, y + level(count) // up, f"{text:>{left - 1}}", Role.LABEL)
    canvas.put(x + left, y + at_even, ("· " if not is_ascii else ". ") * (columns // 2), Role.DIM)
    dots: dict[tuple[int, int], int] = {}
    for line in reversed(lines):
        own: set[tuple[int, int]] = set()
        for column, row in _points(line.climb, columns * across, end, level):
            cell = column // across, row // up
            own.add(cell)
            dots[cell] = dots.get(cell, 0) | DOTS[row % 4][column % 2]
        for cell in own:
            sign = MARKS[line.place - 1] if is_ascii else chr(BRAILLE + dots[cell])
            canvas.put(x + left + cell[0], y + cell[1], sign, line.role)
    free = list(range(rows))
    for line in lines:
        if line.label and free:
            at = level(line.climb.final) // up
            row = min(free, key=lambda each: (abs(each - at), -each))
            free.remove(row)
            canvas.put(x + left + columns + 1, y + row, line.label, line.role)
    axis = TimeAxis(x + left, columns, end)
    first, middle, last = map(minutes_and_seconds, (0, end // 2, end))
    canvas.put(axis.left, y + rows, first, Role.DIM)
    if width >= ROOMY:
        canvas.put(axis.left + (columns - len(middle)) // 2, y + rows, middle, Role.DIM)
    canvas.put(axis.left + columns - len(last), y + rows, last, Role.DIM)
    return axis


def _points(
    climb: Climb, across: int, end: int, level: Callable[[int], int]
) -> Iterator[tuple[int, int]]:
    """Yield the dots of a line, by column and row; `end` is the time of the last of `across` columns."""
    before = level(climb.start)
    for column in range(across):
        at = column * end // (across - 1)
        # the column in which a line ends shows its final count
        is_over = at > climb.end and column > 0
        row = level(climb.final if is_over else climb.banked_at(at))
        for each in range(min(before, row), max(before, row) + 1):
            if each != before or row == before:
                yield column, each
        if is_over:
            return
        before = row
