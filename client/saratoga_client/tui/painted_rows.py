"""A widget made of painted rows, which sends the terminal only the cells that have changed.

Textual asks a widget for its rows in every frame, styles and filters each of them, and sends a changed
part of a row from the row's first cell on. `PaintedRows` keeps finished rows, and a row of which only
some spans have changed is sent as these spans alone (`PatchStrip`).
"""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.segment import ControlType, Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from saratoga_client.board_view.canvas import Row, changes
from saratoga_client.board_view.roles import Role
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.colours import Paint, paint

Span = tuple[int, int]
"""The first changed column of a row, and the column after the last changed one."""


class ShortStrip(Strip):
    """A strip whose styles are sent as one command each: a reset and the next style are joined."""

    def render(self, console: Console) -> str:
        return super().render(console).replace("\x1b[0m\x1b[", "\x1b[0;")


class PatchStrip(ShortStrip):
    """A row of which only some spans have changed since it was sent last.

    Textual crops a row to the end of each changed span before it sends the row. Cropped to the end of
    a span, this strip has only that span, after a command that moves the cursor to it. Cropped
    elsewhere, it is an ordinary strip.
    """

    def __init__(self, segments: Iterable[Segment], width: int, spans: Sequence[Span]) -> None:
        super().__init__(segments, width)
        self.spans = spans
        self.is_sent = False
        self._starts = {end: start for start, end in spans}

    def crop(self, start: int, end: int | None = None) -> Strip:
        begin = 0 if start or end is None else self._starts.get(end, 0)
        if not begin:
            part = super().crop(start, end)
            return ShortStrip(part, part.cell_length)
        self.is_sent = True
        move = Segment(f"\x1b[{begin}C", None, [(ControlType.CURSOR_FORWARD, begin)])
        return ShortStrip((move, *super().crop(begin, end)), end)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, with those joined that overlap or touch.

    >>> merged([(8, 9), (1, 3), (3, 5)])
    [(1, 5), (8, 9)]
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


class PaintedRows(Widget):
    """A widget without border and padding that shows rows of pieces."""

    ALLOW_SELECT = False
    can_focus = False

    def __init__(self, colours: Paint | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._colours: Paint = colours or paint(Colours.ALL)
        self._rows: tuple[Row, ...] = ()
        self._strips: dict[int, Strip] = {}
        """The finished rows, by number; a row is finished when Textual asks for it."""
        self._unsent: dict[int, list[Span]] = {}
        """The changed spans of each row, by number, until the row is finished again."""
        self._filtered: dict[Role, Style | None] = {}
        """The style of each role after the filters of the app, such as the filter that removes colours."""

    def on_resize(self, event: events.Resize) -> None:
        # Textual calls this after the handler of a subclass
        self._repaint()

    def dress(self, colours: Paint) -> None:
        """Change the colours."""
        self._colours = colours
        self._filtered.clear()
        self._repaint()

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        """Show other rows; only the cells that differ are sent."""
        before, self._rows = self._rows, rows
        patches = changes(before, rows)
        if patches is None:
            self._repaint()
        elif patches:
            for y, start, end in patches:
                former = self._strips.pop(y, None)
                if isinstance(former, PatchStrip) and not former.is_sent:
                    self._unsent[y] = [*former.spans]
                self._unsent.setdefault(y, []).append((start, end))
            self.refresh(*(Region(start, y, end - start, 1) for y, start, end in patches))

    def _repaint(self) -> None:
        """Send all rows again."""
        self._strips.clear()
        self._unsent.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return a row as it is sent."""
        width, styles = self.outer_size.width, self._filtered
        if y >= len(self._rows):
            return Strip.blank(width, self._style(Role.TABLE))
        segments = [
            Segment(text, styles[role] if role in styles else self._style(role))
            for text, role in self._rows[y]
        ]
        if y in self._unsent:
            return PatchStrip(segments, width, merged(self._unsent.pop(y)))
        return ShortStrip(segments, width)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the rows within a region; rows that have not changed are not finished again."""
        strips = self._strips
        for y in crop.line_range:
            if y not in strips:
                strips[y] = self.render_line(y)
        found = [strips[y] for y in crop.line_range]
        width = self.outer_size.width
        if crop.column_span == (0, width):
            return found
        return [Strip(strip, width).crop(*crop.column_span) for strip in found]

    def _style(self, role: Role) -> Style | None:
        """Return the style of a role after the filters of the app."""
        segments = [Segment(" ", self._colours[role])]
        for line_filter in self.get_line_filters():
            segments = line_filter.apply(segments, self.background_colors[1])
        self._filtered[role] = segments[0].style
        return segments[0].style
