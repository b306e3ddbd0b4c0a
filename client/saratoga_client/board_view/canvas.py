"""A grid of character cells with roles."""

from functools import lru_cache
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
    added to the cell before it. Characters that are not seen are replaced (`sanitised`), so no text can reach
    the terminal as a command.
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
        if text.isascii() or _is_narrow(text):
            self._put_narrow(x, y, text, role)
            return x + len(text)
        return self._put_wide(x, y, text.translate(JOINERS), role)

    def pieces(self, x: int, y: int, pieces: Row) -> int:
        """Write pieces one after another; return the column after them."""
        for text, role in pieces:
            x = self.put(x, y, text, role)
        return x

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

    def rows(self) -> tuple[Row, ...]:
        """Return every row as pieces; neighbouring cells of one role are one piece."""
        rows = zip(self._signs, self._roles, strict=True)
        return tuple(_joined(signs, roles) for signs, roles in rows)

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
