"""A text chart of banked cards over time, with one line for each racer.

Each line consists of its racer's mark, which stands for the place, so the chart needs no colour.
Where lines meet, the better place is shown. Dots mark the break-even count.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row
from saratoga_client.wording import minutes_and_seconds


@dataclass(frozen=True, slots=True)
class Climb:
    """The number of banked cards over time; taking cards back and undo lower it."""

    start: int
    """The number of cards that the deal banked."""
    counts: tuple[tuple[int, int], ...]
    """Pairs in order of time: milliseconds since the deal, and banked cards from then on."""
    end: int
    """The time at which the board ended, in milliseconds since the deal."""

    @property
    def final(self) -> int:
        """The number of cards banked at the end."""
        return self.counts[-1][1] if self.counts else self.start

    def banked_at(self, at: int) -> int:
        """Return the number of cards banked `at` milliseconds after the deal."""
        past = bisect_right(self.counts, at, key=lambda count: count[0])
        return self.counts[past - 1][1] if past else self.start


def live_climb(state: SessionState, row: Row, end: int) -> Climb:
    """Return the climb of a racer until `end`, as far as the standings have shown it."""
    moments = state.history.get(row.player, ())
    return Climb(moments[0].banked if moments else row.banked, tuple(moments[1:]), end)


MARKS: Final = "123456789abcdefg"
"""The marks of the racers, by place; one for each seat of a table. Racers who share a place share the mark."""

EVEN: Final = "."
AXIS: Final = "|"
LABEL: Final = 4
"""Width of the numbers at the left, with the axis, in columns."""


class Chart(NamedTuple):
    """A drawn chart."""

    rows: tuple[str, ...]
    """The lines of the chart, the time axis last."""
    line_at: Mapping[tuple[int, int], int]
    """The index of the line that a cell belongs to, by column and row; none for other cells."""


def mark_of(place: int) -> str:
    """Return the mark of the racers at a place."""
    return MARKS[min(max(place, 1), len(MARKS)) - 1]


def chart(lines: Sequence[tuple[int, Climb]], even: int, width: int, height: int) -> Chart:
    """Return the chart of lines, each with its place, in order of place; `even` is the break-even count."""
    columns, rows = max(width - LABEL, 2), max(height - 1, 2)
    climbs = [climb for _, climb in lines]
    end = max((climb.end for climb in climbs), default=0)
    counts = (count for climb in climbs for _, count in ((0, climb.start), *climb.counts))
    top = max(even, 1, *counts)

    def row_of(banked: int) -> int:
        return rows - 1 - round(banked * (rows - 1) / top)

    cells = [[" "] * columns for _ in range(rows)]
    cells[row_of(even)] = [EVEN if x % 2 == 0 else " " for x in range(columns)]
    line_at: dict[tuple[int, int], int] = {}
    # a later line covers earlier ones
    for index, (place, climb) in reversed(tuple(enumerate(lines))):
        for x, y in _points(climb, columns, max(end, 1), row_of):
            cells[y][x] = mark_of(place)
            line_at[LABEL + x, y] = index
    labels = {row_of(0): 0, row_of(even): even, 0: top}
    drawn = (
        f"{labels.get(y, ''):>{LABEL - 1}}{AXIS}{''.join(row)}".rstrip()
        for y, row in enumerate(cells)
    )
    return Chart((*drawn, _times(end, width)), line_at)


def _points(
    climb: Climb, columns: int, end: int, row_of: Callable[[int], int]
) -> Iterator[tuple[int, int]]:
    """Yield the cells of a line, by column and row; `end` is the time of the last column."""
    before = row_of(climb.start)
    for x in range(columns):
        at = x * end // (columns - 1)
        # the column in which a line ends shows its final count
        is_over = at > climb.end and x > 0
        row = row_of(climb.final if is_over else climb.banked_at(at))
        for y in range(min(before, row), max(before, row) + 1):
            if y != before or row == before:
                yield x, y
        if is_over:
            return
        before = row


def _times(end: int, width: int) -> str:
    first, middle, last = map(minutes_and_seconds, (0, end // 2, end))
    inner = width - LABEL
    line = first.ljust(inner // 2 - len(middle) // 2) + middle
    return " " * LABEL + line.ljust(inner - len(last)) + last
