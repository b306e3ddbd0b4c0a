"""A text chart of banked cards over time, with one line for each racer.

Each line consists of its racer's mark, which stands for the place, so the chart needs no colour.
Where lines meet, the better place is shown. Dots mark the break-even count.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
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

    def reached(self, banked: int) -> int | None:
        """Return the milliseconds from the deal until `banked` cards were first banked; `None` if never."""
        if banked <= self.start:
            return 0
        return next((at for at, count in self.counts if count >= banked), None)


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


class ChartLine(NamedTuple):
    """What a chart needs to draw the line of a racer."""

    place: int
    climb: Climb


class Chart(NamedTuple):
    """A drawn chart."""

    rows: tuple[str, ...]
    """The lines of the chart, the time axis last."""
    line_at: Mapping[tuple[int, int], int]
    """The index of the line that a cell belongs to, by column and row; none for other cells."""


def mark_of(place: int) -> str:
    """Return the mark of the racers at a place."""
    return MARKS[min(max(place, 1), len(MARKS)) - 1]


def chart(lines: Sequence[ChartLine], even: int, width: int, height: int) -> Chart:
    """Return the chart of lines in order of place; `even` is the break-even count."""
    climbs = [line.climb for line in lines]
    end = max((climb.end for climb in climbs), default=0)
    top = max(even, *(count for climb in climbs for _, count in ((0, climb.start), *climb.counts)))
    plot = _Plot(max(width - LABEL, 2), max(height - 1, 2), end, top)
    plot.level(even, EVEN)
    for index, line in reversed(tuple(enumerate(lines))):
        plot.line(line.climb, mark_of(line.place), index)
    return Chart((*plot.rows(even), _times(end, width)), plot.line_at)


class _Plot:
    """The cells of a chart; a later line covers earlier ones."""

    def __init__(self, width: int, height: int, end: int, top: int) -> None:
        self._cells = [[" "] * width for _ in range(height)]
        self._width, self._height = width, height
        self._end, self._top = max(end, 1), max(top, 1)
        self.line_at: dict[tuple[int, int], int] = {}

    def level(self, banked: int, mark: str) -> None:
        self._cells[self._row(banked)] = [mark if x % 2 == 0 else " " for x in range(self._width)]

    def line(self, climb: Climb, mark: str, index: int) -> None:
        before = self._row(climb.start)
        for x in range(self._width):
            at = x * self._end // (self._width - 1)
            if at > climb.end and x:
                # The column in which a line ends shows its final count.
                self._join(x, before, self._row(climb.final), mark, index)
                return
            row = self._row(climb.banked_at(at))
            self._join(x, before, row, mark, index)
            before = row

    def rows(self, even: int) -> list[str]:
        labels = {self._row(0): 0, self._row(even): even, 0: self._top}
        return [
            f"{labels.get(y, ''):>{LABEL - 1}}{AXIS}{''.join(cells)}".rstrip()
            for y, cells in enumerate(self._cells)
        ]

    def _join(self, x: int, before: int, row: int, mark: str, index: int) -> None:
        for y in range(min(before, row), max(before, row) + 1):
            if y != before or row == before:
                self._cells[y][x] = mark
                self.line_at[LABEL + x, y] = index

    def _row(self, banked: int) -> int:
        return self._height - 1 - round(banked * (self._height - 1) / self._top)


def _times(end: int, width: int) -> str:
    first, middle, last = (
        minutes_and_seconds(0),
        minutes_and_seconds(end // 2),
        minutes_and_seconds(end),
    )
    inner = width - LABEL
    line = first.ljust(inner // 2 - len(middle) // 2) + middle
    return " " * LABEL + line.ljust(inner - len(last)) + last
