"""A widget that shows a drawn canvas and repaints only the cells that have changed."""

from collections.abc import Callable
from typing import TypeAlias

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas, Piece, changes
from saratoga_client.board_view.roles import Role
from saratoga_client.tui.colours import Depth, Paint, paint

Draw: TypeAlias = Callable[[int, int], Canvas]
"""A function that draws a canvas of a width and a height in cells."""


def blank(width: int, height: int) -> Canvas:
    """Return an empty canvas."""
    return Canvas(width, height)


class CanvasView(Widget):
    """A widget that shows a canvas; `redraw` draws it again."""

    DEFAULT_CSS = "CanvasView { height: 1fr; }"
    ALLOW_SELECT = False
    can_focus = False

    def __init__(self, draw: Draw = blank, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._draw = draw
        self._canvas: Canvas | None = None
        self._rows: tuple[tuple[Piece, ...], ...] = ()
        self._colours: Paint = paint(Depth.ALL)
        self._content: object = None

    def on_mount(self) -> None:
        colours = getattr(self.app, "colours", None)
        if colours is not None:
            self._colours = colours

    def dress(self, colours: Paint) -> None:
        """Change the colours."""
        self._colours = colours
        self.refresh()

    def show(self, draw: Draw) -> None:
        """Set another drawing function and draw."""
        self._draw = draw
        self.redraw()

    def redraw_for(self, content: object) -> None:
        """Draw again if this value, on which the drawing depends, differs from the last one."""
        if self.size and content != self._content:
            self._content = content
            self.redraw()

    def redraw(self) -> None:
        """Draw again, and repaint the cells that differ."""
        width, height = self.size
        if not self.size:
            return
        former, self._canvas = self._canvas, self._draw(width, height)
        before, self._rows = self._rows, self._canvas.rows(former)
        patches = changes(before, self._rows)
        if patches is None:
            self.refresh()
        elif patches:
            self.refresh(*(Region(start, y, end - start, 1) for y, start, end in patches))

    def on_resize(self, event: events.Resize) -> None:
        self._rows = ()
        self.redraw()

    def render_line(self, y: int) -> Strip:
        if y >= len(self._rows):
            return Strip.blank(self.size.width, self._colours[Role.TABLE])
        colours = self._colours
        return Strip(
            [Segment(text, colours[role]) for text, role in self._rows[y]], self.size.width
        )
