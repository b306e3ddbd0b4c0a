"""A widget made of painted rows, which repaints only the rows that have changed."""

from collections.abc import Callable
from typing import TypeAlias

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas, Row
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.theme import Paint, paint

Draw: TypeAlias = Callable[[int, int], Canvas]
"""A function that draws a canvas of a width and a height in cells."""


def blank(width: int, height: int) -> Canvas:
    """Return an empty canvas."""
    return Canvas(width, height)


class PaintedRows(Widget):
    """A widget without border and padding that shows rows of pieces."""

    ALLOW_SELECT = False
    can_focus = False

    def __init__(self, colours: Paint | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._colours: Paint = colours or paint(Colours.ALL)
        self._rows: tuple[Row, ...] = ()

    def on_resize(self, event: events.Resize) -> None:
        # Textual calls this after the handler of a subclass
        self.refresh()

    def dress(self, colours: Paint) -> None:
        """Change the colours."""
        self._colours = colours
        self.refresh()

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        """Show other rows; only the rows that differ are repainted."""
        before, self._rows = self._rows, rows
        if len(before) != len(rows):
            self.refresh()
            return
        width = self.outer_size.width
        differ = [y for y, (old, new) in enumerate(zip(before, rows, strict=True)) if old != new]
        if differ:
            self.refresh(*(Region(0, y, width, 1) for y in differ))

    def render_line(self, y: int) -> Strip:
        """Return a row as it is sent."""
        if y >= len(self._rows):
            return Strip.blank(self.outer_size.width, self._colours[Role.TABLE])
        return Strip(Segment(text, self._colours[role]) for text, role in self._rows[y])


class CanvasView(PaintedRows):
    """A widget that shows a canvas; `redraw` draws it again."""

    DEFAULT_CSS = "CanvasView { height: 1fr; }"

    def __init__(self, draw: Draw = blank, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw = draw
        self._content: object = None

    def on_mount(self) -> None:
        colours = getattr(self.app, "colours", None)
        if colours is not None:
            self.dress(colours)

    def show(self, draw: Draw) -> None:
        """Set another drawing function and draw."""
        self._draw = draw
        self.redraw()

    def redraw_for(self, content: object) -> None:
        """Draw again if this value, on which the drawing depends, differs from the last one."""
        if self.outer_size and content != self._content:
            self._content = content
            self.redraw()

    def redraw(self) -> None:
        """Draw again, and repaint the rows that differ."""
        size = self.outer_size
        if not size:
            return
        self.show_rows(self._draw(size.width, size.height).rows())

    def on_resize(self, event: events.Resize) -> None:
        self.redraw()
