"""The text of pages made with Rich, rendered without a terminal."""

from io import StringIO
from typing import Final

from rich.console import Console, RenderableType

from saratoga_client.local.terminal import Colours
from saratoga_client.tui.colours import paint
from saratoga_client.tui.rich_view import Ink

INK: Final = Ink(paint(Colours.NONE))


def page_text(page: RenderableType, width: int = 80) -> str:
    """Return a page's text at a width in cells, without blanks at the ends of lines."""
    printed = StringIO()
    Console(file=printed, width=width, color_system=None, legacy_windows=False).print(page)
    return "\n".join(line.rstrip() for line in printed.getvalue().split("\n"))
