"""A widget that shows a drawn canvas and repaints only the rows that have changed."""

from collections.abc import Callable
from typing import TypeAlias

from textual import events

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.tui.painted_rows import PaintedRows

Draw: TypeAlias = Callable[[int, int], Canvas]
"""A function that draws a canvas of a width and a height in cells."""


def blank(width: int, height: int) -> Canvas:
    """Return an empty canvas."""
    return Canvas(width, height)


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
