"""The report of one part of the benchmarks: tables and limits, as Markdown."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = str | int | float


@dataclass
class Bar:
    """A promised limit and the measured figure."""

    what: str
    figure: float
    """The measured figure, NaN if it could not be computed."""
    most: float
    unit: str = ""
    needs_quiet: bool = True
    """True if other work on the machine changes the figure."""
    is_quiet: bool = True
    """True if the machine was quiet enough during the measurement."""

    @property
    def is_met(self) -> bool:
        return self.figure <= self.most

    @property
    def is_measured(self) -> bool:
        return not math.isnan(self.figure) and (self.is_quiet or not self.needs_quiet)

    @property
    def is_missed(self) -> bool:
        """True if the figure was measured quietly and exceeds the limit."""
        return self.is_measured and not self.is_met

    def cells(self) -> tuple[str, ...]:
        verdict = (
            ("met" if self.is_met else "MISSED") if self.is_measured else "not measured quietly"
        )
        figure = "-" if math.isnan(self.figure) else f"{self.figure:.2f}{self.unit}"
        return (self.what, figure, f"{self.most:g}{self.unit}", verdict)


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

    def bar(self, bar: Bar) -> None:
        self.bars.append(bar)

    def text(self) -> str:
        """Return the report as Markdown, with its heading."""
        return "\n".join([f"## {self.title}", *self.lines, ""])


def markdown(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return the lines of a Markdown table with aligned columns."""
    cells = [list(columns), *([_shown(cell) for cell in row] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [
        "| " + " | ".join(_padded(line, widths)) + " |" for line in (cells[0], rule, *cells[1:])
    ]


def _padded(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]


def _shown(cell: Cell) -> str:
    """Format a cell with three significant digits."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}".replace(",", " ")
    return f"{cell:#.3g}".rstrip(".")
