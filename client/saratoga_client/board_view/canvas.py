"""A grid of character cells with roles, and the comparison of two such grids."""

from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from rich.cells import cell_len

from saratoga_client.board_view.roles import Role
from saratoga_client.sanitised import sanitised

NEAR: Final = 8
"""Changed spans closer than this many columns are joined.

The terminal command that moves the cursor and sets a colour has about this length.
"""

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
    added to the cell before it. Characters that are not seen are replaced (`sanitised`), so no text can reach
    the terminal as a command.
    """

    __slots__ = ("_roles", "_rows", "_signs", "height", "width")

    def __init__(self, width: int, height: int, role: Role = Role.TABLE) -> None:
        self.width = width
        self.height = height
        self._signs = [[" "] * width for _ in range(height)]
        self._roles = [[role] * width for _ in range(height)]
        self._rows: tuple[Row, ...] = ()
        """The result of the last call of `rows`."""

    def copied(self) -> "Canvas":
        """Return a copy of this canvas."""
        copy = Canvas(self.width, 0)
        copy.height = self.height
        copy._signs = [row[:] for row in self._signs]
        copy._roles = [row[:] for row in self._roles]
        return copy

    def put(self, x: int, y: int, text: str, role: Role) -> int:
        """Write a text; return the column after it, even if it was cut off."""
        if not (text.isascii() and text.isprintable()):
            text = sanitised(text)
        if text.isascii() or _is_narrow(text):
            self._put_narrow(x, y, text, role)
            return x + len(text)
        return self._put_wide(x, y, text.translate(JOINERS), role)

    def pieces(self, x: int, y: int, pieces: Row) -> int:
        """Write pieces one after another; return the column after them."""
        for text, role in pieces:
            x = self.put(x, y, text, role)
        return x

    def fill(self, x: int, y: int, width: int, height: int, role: Role, sign: str = " ") -> None:
        """Fill a rectangle with a character that is one cell wide."""
        for row in range(y, y + height):
            self._put_narrow(x, row, sign * width, role)

    def paste(self, other: "Canvas", x: int, y: int) -> None:
        """Copy another canvas onto this one."""
        end = x + other.width
        if x < 0 or end > self.width or not other.width:
            for row, pieces in enumerate(other.rows()):
                self.pieces(x, y + row, pieces)
            return
        for row in range(max(0, -y), min(other.height, self.height - y)):
            self._mend(x, y + row, end)
            self._signs[y + row][x:end] = other._signs[row]  # noqa: SLF001 - a canvas too
            self._roles[y + row][x:end] = other._roles[row]  # noqa: SLF001

    def rows(self, former: "Canvas | None" = None) -> tuple[Row, ...]:
        """Return every row as pieces; neighbouring cells of one role are one piece.

        Reuse the equal rows of a `former` canvas, which is faster.
        """
        rows = zip(self._signs, self._roles, strict=True)
        if former is None or len(former._rows) != self.height:  # noqa: SLF001 - a canvas too
            self._rows = tuple(_joined(signs, roles) for signs, roles in rows)
        else:
            were = zip(former._signs, former._roles, former._rows, strict=True)  # noqa: SLF001
            self._rows = tuple(
                row if signs == old_signs and roles == old_roles else _joined(signs, roles)
                for (signs, roles), (old_signs, old_roles, row) in zip(rows, were, strict=True)
            )
        return self._rows

    def text(self) -> str:
        """Return the characters, one line for each row, without trailing blanks."""
        return "\n".join("".join(signs).rstrip() for signs in self._signs)

    def _put_narrow(self, x: int, y: int, text: str, role: Role) -> None:
        if not 0 <= y < self.height:
            return
        if x < 0:
            text, x = text[-x:], 0
        text = text[: max(0, self.width - x)]
        if text:
            end = x + len(text)
            self._mend(x, y, end)
            self._signs[y][x:end] = text
            self._roles[y][x:end] = [role] * len(text)

    def _put_wide(self, x: int, y: int, text: str, role: Role) -> int:
        for sign in text:
            wide = cell_len(sign)
            if wide == 0:
                if 0 <= y < self.height and 0 < x <= self.width:
                    signs = self._signs[y]
                    signs[x - 1 if signs[x - 1] else x - 2] += sign
            elif wide == 1:
                self._put_narrow(x, y, sign, role)
            elif x < 0 or x + wide > self.width:
                self._put_narrow(x, y, " " * wide, role)
            else:
                self._put_narrow(x, y, " " * wide, role)
                if 0 <= y < self.height:
                    self._signs[y][x : x + 2] = [sign, ""]
            x += wide
        return x

    def _mend(self, x: int, y: int, end: int) -> None:
        """Blank the other halves of wide characters that a write to the cells `x` to `end` cuts."""
        signs = self._signs[y]
        if signs[x] == "":
            signs[x - 1] = " "
        if end < self.width and signs[end] == "":
            signs[end] = " "


def overlay(row: Row, x: int, over: Row) -> Row:
    """Return a row of narrow characters, overwritten by other pieces from column `x` on."""
    width = sum(len(piece.text) for piece in row)
    canvas = Canvas(width, 1)
    canvas.pieces(0, 0, row)
    canvas.pieces(x, 0, over)
    return canvas.rows()[0]


def changed(before: Row, after: Row) -> tuple[tuple[int, int], ...]:
    """Return the spans in which two rows of equal width differ, each as start and end (exclusive) column.

    Join spans closer than `NEAR`: sending the columns between costs less than moving the cursor.
    """
    first, end = _middle(before, after)
    skipped = _cell_width(before[:first])
    old_signs, old_roles = _cells(before[first : len(before) - end])
    signs, roles = _cells(after[first : len(after) - end])
    spans: list[tuple[int, int]] = []
    cells = zip(old_signs, signs, old_roles, roles, strict=True)
    for column, (old_sign, sign, old_role, role) in enumerate(cells, skipped):
        if old_role is role and old_sign == sign:
            continue
        if spans and column - spans[-1][1] < NEAR:
            spans[-1] = (spans[-1][0], column + 1)
        else:
            spans.append((column, column + 1))
    return tuple(spans)


def changes(before: tuple[Row, ...], after: tuple[Row, ...]) -> list[tuple[int, int, int]] | None:
    """Return the spans in which two canvases differ, each as row, start and end (exclusive) column.

    Return `None` if their sizes differ, so that everything is drawn again.
    """
    if len(before) != len(after):
        return None
    if before and before[0] is not after[0] and _cell_width(before[0]) != _cell_width(after[0]):
        return None
    found = []
    for y, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is new or old == new:
            continue
        found += [(y, start, end) for start, end in changed(old, new)]
    return found


def _cell_width(row: Row) -> int:
    return sum(len(text) if text.isascii() else cell_len(text) for text, _ in row)


def _middle(before: Row, after: Row) -> tuple[int, int]:
    """Return how many pieces two rows share at their starts, and how many more at their ends."""
    shorter = min(len(before), len(after))
    first = 0
    while first < shorter and before[first] == after[first]:
        first += 1
    end = 0
    while end < shorter - first and before[-1 - end] == after[-1 - end]:
        end += 1
    return first, end


def _cells(row: Row) -> tuple[list[str], list[Role]]:
    """Return the characters and roles by cell; both cells of a wide character contain it."""
    signs: list[str] = []
    roles: list[Role] = []
    for text, role in row:
        if text.isascii() or _is_narrow(text):
            signs += text
            roles += [role] * len(text)
        else:
            wide = [sign for sign in text for _ in range(cell_len(sign))]
            signs += wide
            roles += [role] * len(wide)
    return signs, roles


@lru_cache(maxsize=1 << 10)
def _is_narrow(text: str) -> bool:
    """Return whether every character takes one cell."""
    return all(cell_len(sign) == 1 for sign in text)


def _joined(signs: list[str], roles: list[Role]) -> Row:
    if not roles:
        return ()
    if roles.count(roles[0]) == len(roles):
        return (Piece("".join(signs), roles[0]),)
    pieces: list[Piece] = []
    start, role = 0, roles[0]
    for end, following in enumerate(roles):
        if following is not role:
            pieces.append(Piece("".join(signs[start:end]), role))
            start, role = end, following
    pieces.append(Piece("".join(signs[start:]), role))
    return tuple(pieces)
