"""Boards as text: golden pictures, each in a file that also names its board.

    lady-palk 55x21 ascii picked=t6:2 targets=t1,up
    stock=.. waste=.. (the position, as `format_position` writes it)

    the picture

`python -m kit.board_pictures` (from the folder `tests`) draws all pictures again; look at the
difference before committing it.
"""

from pathlib import Path
from typing import Final, NamedTuple

from saratoga_client.board_view.canvas import Canvas, Row
from saratoga_client.board_view.draw import draw_board
from saratoga_client.board_view.faces import CardStyle, suit_colours
from saratoga_client.board_view.layout import lay_out
from saratoga_client.input.selection import Marks
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, parse_position, redact

FOLDER: Final = Path(__file__).parent.parent / "client" / "board_view" / "pictures"

SIZES: Final = ((55, 21), (69, 27), (88, 37))
"""The sizes of the board on screens of 80x24, 100x30 and 120x40."""


class BoardPicture(NamedTuple):
    """A golden picture, and the board and settings from which it is drawn."""

    game: Game
    view: View
    marks: Marks
    look: CardStyle
    width: int
    height: int
    picture: str

    def again(self) -> str:
        """Draw the board with the present code; return the picture as text."""
        look, size = self.look, (self.width, self.height)
        return drawn_board(self.game, self.view, self.marks, look, *size).text().rstrip("\n")


def drawn_board(
    game: Game, view: View, marks: Marks, style: CardStyle, width: int, height: int
) -> Canvas:
    """Draw a view on a board of `width` times `height` cells."""
    layout = lay_out(game, view, width, height, marks.picked)
    return draw_board(game, view, marks, style, layout)


def rows(canvas: Canvas) -> list[Row]:
    """Return every row of a canvas as pieces."""
    return [canvas.row(y) for y in range(canvas.height)]


def read(path: Path) -> BoardPicture:
    """Read a picture from its file."""
    head, position, _, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    name, size, *words = head.split()
    game = GAMES[name]
    width, height = map(int, size.split("x"))
    options = dict(word.split("=") for word in words if "=" in word)
    pile, _, count = options.get("picked", "").partition(":")
    targets = options.get("targets", "")
    marks = Marks(
        picked=(pile, int(count)) if pile else None,
        targets=frozenset(targets.split(",")) if targets else frozenset(),
        find=options.get("find", ""),
    )
    look = CardStyle(suits=suit_colours(game), ascii="ascii" in words, hollow="hollow" in words)
    view = redact(parse_position(position))
    return BoardPicture(game, view, marks, look, width, height, "\n".join(lines).rstrip("\n"))


def pictures() -> list[Path]:
    """Return the files of all pictures."""
    return sorted(FOLDER.glob("*.txt"))


if __name__ == "__main__":
    for path in pictures():
        head, position, *_ = path.read_text(encoding="utf-8").split("\n")
        path.write_text(f"{head}\n{position}\n\n{read(path).again()}\n", encoding="utf-8")
