"""A grid of character cells with roles."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

from rich.cells import cell_len

from saratoga_client.board_view.roles import Role
from saratoga_protocol.visible_text import sanitised

JOINERS: Final = str.maketrans("", "", "\u200c\u200d\ufe0e\ufe0f")
"""Characters that join their neighbours; terminals disagree about the width of the result."""


class Piece(NamedTuple):
    """The text of neighbouring cells in a row that have the same role (style)."""

    text: str
    role: Role


Row: TypeAlias = tuple[Piece, ...]


class Canvas:
    """A grid of cells; text beyond its edges is cut off.

    A wide character takes two cells, or none if only half of it fits. A character without width is
    added to the one before it. Characters that are not seen are replaced (`sanitised`), so no text
    can reach the terminal as a command.
    """

    __slots__ = ("_roles", "_signs", "height", "width")

    def __init__(self, width: int, height: int, role: Role = Role.TABLE) -> None:
        self.width = width
        self.height = height
        self._signs = [[" "] * width for _ in range(height)]
        self._roles = [[role] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, role: Role) -> int:
        """Write a text; return the column after it, even if it was cut off."""
        if not (text.isascii() and text.isprintable()):
            text = sanitised(text)
        cells = text if text.isascii() or _is_narrow(text) else _cells(text)
        self._write(x, y, cells, [role] * len(cells))
        return x + len(cells)

    def paste(self, other: "Canvas", x: int, y: int) -> None:
        """Copy another canvas onto this one."""
        for row in range(other.height):
            self.paste_row(other, row, x, y + row)

    def paste_row(
        self, other: "Canvas", row: int, x: int, y: int, start: int = 0, end: int | None = None
    ) -> None:
        """Copy a row of another canvas, or its cells from `start` to `end`, onto this one."""
        signs, roles = other._signs[row], other._roles[row]  # noqa: SLF001 - a canvas too
        self._write(x, y, signs[start:end], roles[start:end])

    def row(self, y: int) -> Row:
        """Return a row as pieces; neighbouring cells of one role are one piece."""
        pieces: list[Piece] = []
        start = 0
        for role, cells in groupby(self._roles[y]):
            end = start + len(list(cells))
            pieces.append(Piece("".join(self._signs[y][start:end]), role))
            start = end
        return tuple(pieces)

    def rows_unlike(self, other: "Canvas") -> list[int]:
        """Return the numbers of the rows that differ from those of a canvas of the same size."""
        now = zip(self._signs, self._roles, strict=True)
        then = zip(other._signs, other._roles, strict=True)  # noqa: SLF001 - a canvas too
        return [y for y, (row, former) in enumerate(zip(now, then, strict=True)) if row != former]

    def text(self) -> str:
        """Return the characters, one line for each row, without trailing blanks."""
        return "\n".join("".join(signs).rstrip() for signs in self._signs)

    def _write(self, x: int, y: int, cells: Sequence[str], roles: list[Role]) -> None:
        """Write cells; a wide character of which only half is left becomes a blank."""
        start, end = max(0, x), min(self.width, x + len(cells))
        if start >= end or not 0 <= y < self.height:
            return
        signs = self._signs[y]
        if signs[start] == "":
            signs[start - 1] = " "
        if end < self.width and signs[end] == "":
            signs[end] = " "
        signs[start:end] = cells[start - x : end - x]
        self._roles[y][start:end] = roles[start - x : end - x]
        if signs[start] == "":
            signs[start] = " "
        if end - x < len(cells) and cells[end - x] == "":
            signs[end - 1] = " "


@lru_cache(maxsize=1 << 10)
def _is_narrow(text: str) -> bool:
    """Return whether every character takes one cell."""
    return all(cell_len(sign) == 1 for sign in text)


def _cells(text: str) -> list[str]:
    """Return the contents of a text's cells; the second cell of a wide character is empty."""
    cells: list[str] = []
    for sign in text.translate(JOINERS):
        wide = cell_len(sign)
        if wide:
            cells += [sign, ""][:wide]
        elif cells:
            cells[-1 if cells[-1] else -2] += sign
    return cells
