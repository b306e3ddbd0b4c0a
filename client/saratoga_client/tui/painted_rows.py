"""A widget that shows a canvas, and repaints only the rows that have changed."""

from collections.abc import Callable
from typing import ClassVar, TypeAlias

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.theme import Paint, paint

Draw: TypeAlias = Callable[[int, int], Canvas]
"""A function that draws a canvas of a width and a height in cells."""


class CanvasView(Widget):
    """A widget without border and padding that shows a canvas; `redraw` draws it again."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "CanvasView { height: 1fr; }"
    can_focus = False
    with_time: ClassVar[bool] = True
    """False if it is not drawn again when only time has passed."""

    def __init__(
        self,
        draw: Draw = Canvas,
        *,
        id: str | None = None,  # noqa: A002
        after_keys: bool = True,
    ) -> None:
        """Call `draw` to draw; not `after_keys` if only the table and the time change what it shows."""
        super().__init__(id=id)
        self._draw = draw
        self.after_keys = after_keys
        self._canvas = Canvas(0, 0)
        self._strips: dict[int, Strip] = {}
        """The rows that were sent already, in the colours of `_sent_in`."""
        self._sent_in: Paint = {}
        self._styles: Paint = {}

    @property
    def colours(self) -> Paint:
        """The style of each role now."""
        return getattr(self.app, "colours", paint(Colours.ALL))

    def redraw(self) -> None:
        """Draw again, and repaint the rows that differ."""
        width, height = self.outer_size
        if not width or not height:
            return
        former, self._canvas = self._canvas, self._draw(width, height)
        if (former.width, former.height) != (width, height):
            self._repaint()
        elif differ := self._canvas.rows_unlike(former):
            for y in differ:
                self._strips.pop(y, None)
            self.refresh(*(Region(0, y, width, 1) for y in differ))

    def _repaint(self) -> None:
        """Send all rows again."""
        self._strips.clear()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        # Textual calls this after the handler of a subclass
        self.redraw()
        self._repaint()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows of a region: a canvas has no border, padding or tint for Textual to add."""
        if self._sent_in is not self.colours:
            self._sent_in, self._styles = self.colours, self._filtered(self.colours)
            self._strips.clear()
        rows = [self._strips.get(y) or self.render_line(y) for y in crop.line_range]
        return [row.crop(*crop.column_span) for row in rows]

    def _filtered(self, colours: Paint) -> Paint:
        """Return the styles as Textual sends them to this terminal."""
        strip = Strip(Segment(" ", style) for style in colours.values())
        _, background = self.background_colors
        for line_filter in self.get_line_filters():
            strip = strip.apply_filter(line_filter, background)
        return {role: style or Style() for role, (_, style, _) in zip(colours, strip, strict=True)}

    def render_line(self, y: int) -> Strip:
        """Return a row as it is sent, and keep it."""
        if y < self._canvas.height:
            pieces = [Segment(text, self._styles[role]) for text, role in self._canvas.row(y)]
            strip = Strip(pieces, self._canvas.width)
        else:
            strip = Strip.blank(self.outer_size.width, self._styles[Role.TABLE])
        self._strips[y] = strip
        return strip
