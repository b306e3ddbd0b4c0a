"""Widgets that show Rich text in the theme's colours, and pages that scroll by key.

Every text passes through `Ink`, which makes control characters visible and ignores markup, so a
name or a notice from a server cannot change the rest of the screen.
"""

from collections.abc import Callable, Container
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from rich.console import JustifyMethod, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text
from textual.containers import VerticalScroll
from textual.geometry import Region
from textual.widget import Widget
from textual.widgets import Static

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.symbols import in_letters
from saratoga_client.tui.theme import Paint
from saratoga_protocol.visible_text import sanitised

if TYPE_CHECKING:
    from saratoga_client.tui.app import SaratogaApp


class Ink:
    """A maker of Rich text in the styles of roles."""

    def __init__(self, colours: Paint, *, ascii_only: bool = False) -> None:
        """With `ascii_only`, write letters for the symbols of suits and bots."""
        self._colours = colours
        self._ascii_only = ascii_only

    def style(self, role: Role) -> Style:
        """Return the style of a role."""
        return self._colours[role]

    def text(self, text: str, role: Role = Role.TEXT) -> Text:
        """Return a sanitised text in the style of a role."""
        text = in_letters(text) if self._ascii_only else text
        return Text(sanitised(text), self._colours[role])

    def indented(self, text: str, role: Role = Role.TEXT, left: int = 1) -> Padding:
        """Return a paragraph with a margin of `left` cells, also on wrapped lines."""
        return Padding(
            Text("\n").join(self.text(line, role) for line in text.split("\n")), (0, 1, 0, left)
        )

    def line(self, *pieces: tuple[str, Role]) -> Text:
        """Return one text of several pieces, each with its role."""
        return Text().join(self.text(text, role) for text, role in pieces)

    def canvas(self, canvas: Canvas) -> Text:
        """Return the rows of a canvas."""
        lines = (canvas.row(y) for y in range(canvas.height))
        return Text("\n").join(self.line(*pieces) for pieces in lines)

    def grid(self, *widths: int | None, right: Container[int] = ()) -> Table:
        """Return a table without borders; a column of width `None` takes the remaining width.

        Columns with an index in `right` are aligned at the right.
        """
        grid = Table.grid(expand=None in widths)
        for index, width in enumerate(widths):
            if width is None:
                grid.add_column(ratio=1, overflow="fold")
            else:
                justify: JustifyMethod = "right" if index in right else "left"
                grid.add_column(width=width, no_wrap=True, overflow="crop", justify=justify)
        return grid


Draw: TypeAlias = Callable[[Ink], RenderableType]
"""A function that draws a part of a page."""


class RichView(Static, can_focus=False):
    """A widget that shows the result of a drawing function; call `redraw` after changes."""

    DEFAULT_CSS = "RichView { height: auto; }"
    ALLOW_SELECT = False

    def __init__(self, draw: Draw, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, markup=False)
        self._draw = draw

    def on_mount(self) -> None:
        self.redraw()

    def redraw(self) -> None:
        """Call the drawing function again and show the result."""
        program = program_of(self)
        self.update(self._draw(Ink(program.colours, ascii_only=program.appearance.ascii)))


class ScrollPage(VerticalScroll, can_focus=False, inherit_bindings=False):
    """A page that scrolls if it is higher than its part of the screen."""

    DEFAULT_CSS = "ScrollPage { height: 1fr; }"

    @property
    def is_cut(self) -> bool:
        """True if the page is higher than its part of the screen."""
        return self.max_scroll_y > 0

    @property
    def lines_below(self) -> int:
        """The number of lines below the visible ones."""
        return max(0, round(self.max_scroll_y - self.scroll_y))

    def press(self, key: str) -> bool:
        """Scroll if the key is one for that; return whether it is."""
        # One line of the previous view stays visible.
        page, all_lines = max(1, self.size.height - 1), self.max_scroll_y
        by = {"down": 1, "up": -1, "space": page, "pagedown": page, "pageup": -page}
        lines = {**by, "home": -all_lines, "end": all_lines}.get(key)
        if lines is not None:
            self.scroll_relative(y=lines, animate=False, immediate=True)
        return lines is not None

    def show_line(self, view: Widget, line: int) -> None:
        """Scroll until a line of one of the page's parts is visible."""
        y = view.virtual_region.y + line
        self.scroll_to_region(Region(0, y, 1, 1), animate=False, immediate=True)


def program_of(widget: Widget) -> "SaratogaApp":
    """Return the app that shows a widget."""
    return cast("SaratogaApp", cast(Any, widget.app))
