"""The report of one part of the benchmarks: tables and limits, as Markdown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.measuring import Load

Cell = str | int | float


@dataclass
class Bar:
    """A promised limit and the measured figure, NaN if there is none."""

    what: str
    figure: float
    most: float
    unit: str = " x"
    is_quiet: bool = True
    """False if other work on the machine changed the figure."""

    @property
    def verdict(self) -> str:
        if math.isnan(self.figure) or not self.is_quiet:
            return "not measured quietly"
        return "met" if self.figure <= self.most else "MISSED"

    def cells(self) -> tuple[str, ...]:
        return self.what, f"{self.figure:.2f}{self.unit}", f"{self.most:g}{self.unit}", self.verdict


@dataclass
class Report:
    """The report of one part, built paragraph by paragraph."""

    title: str
    lines: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    others: float = 0.0
    """The share of the machine's cores that other processes used."""

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += ["", text]

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Add a table; the first column holds texts, the others hold figures."""
        self.lines += ["", *markdown(columns, rows)]

    def bar(
        self, what: str, figure: float, most: float, unit: str = " x", loads: Sequence[Load] = ()
    ) -> None:
        """Add a limit; it is not judged if one of the loads behind its figure was disturbed."""
        is_quiet = all(load.is_undisturbed for load in loads)
        self.bars.append(Bar(what, figure, most, unit, is_quiet))

    def text(self) -> str:
        """Return the report as Markdown, with its heading."""
        return "\n".join([f"## {self.title}", *self.lines, ""])


def markdown(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the lines of a Markdown table with aligned columns."""
    cells = [list(columns), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    cells.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    return [
        f"| {first.ljust(widths[0])} | " + " | ".join(map(str.rjust, others, widths[1:])) + " |"
        for first, *others in cells
    ]


def _shown(cell: Cell) -> str:
    """Format a cell with three significant digits."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}".replace(",", " ")
    return f"{cell:#.3g}".rstrip(".")
