"""The cells of a Textual screen as they are painted, read through Textual's public methods."""

from io import StringIO
from typing import Any, Final

from rich.console import Console, RenderableType
from textual.errors import NoWidget
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip

from saratoga_client.local.terminal import Colours
from saratoga_client.tui.rich_view import Ink
from saratoga_client.tui.theme import paint

INK: Final = Ink(paint(Colours.NONE))


def page_text(page: RenderableType, width: int = 80) -> str:
    """Return a page's text at a width in cells, without blanks at the ends of lines."""
    printed = StringIO()
    Console(file=printed, width=width, color_system=None, legacy_windows=False).print(page)
    return "\n".join(line.rstrip() for line in printed.getvalue().split("\n"))


def painted_rows(screen: Screen[Any]) -> list[Strip]:
    """Return every row of the screen as a strip of styled text; blank rows if it has no layout yet."""
    try:
        screen.get_widget_at(0, 0)
    except NoWidget:
        return [Strip.blank(screen.size.width)] * screen.size.height
    return [_row(screen, y) for y in range(screen.size.height)]


def painted_text(screen: Screen[Any]) -> list[str]:
    """Return the text of every row, without blanks at its end."""
    return [row.text.rstrip() for row in painted_rows(screen)]


def _row(screen: Screen[Any], y: int) -> Strip:
    x, pieces = 0, []
    while x < screen.size.width:
        widget, region = screen.get_widget_at(x, y)
        if widget.children:
            # a container shows only between its children
            end = x + 1
            while end < screen.size.width and screen.get_widget_at(end, y)[0] is widget:
                end += 1
        else:
            end = screen.find_widget(widget).visible_region.right
        (line,) = widget.render_lines(Region(0, y - region.y, region.width, 1))
        pieces.append(line.crop(x - region.x, end - region.x))
        x = end
    return Strip.join(pieces)
