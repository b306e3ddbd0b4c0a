"""The keys and the rules, over whatever goes on below; the race waits for nobody."""

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from saratoga_client.drawing.canvas import Canvas
from saratoga_client.drawing.roles import Role
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.keys import key_of
from saratoga_client.tui.lines import KeyLine
from saratoga_client.tui.pages.help import help_lines
from saratoga_rules.game import Game

CLOSING: Final = ("?", "escape", "q", "enter")
WIDEST: Final = 96
"""Cells; longer lines are hard to read."""


class HelpScreen(ModalScreen[None], inherit_bindings=False):
    """Text to scroll through."""

    DEFAULT_CSS = """
    HelpScreen { layout: vertical; overflow: hidden hidden; }
    HelpScreen #help { height: 1fr; }
    """

    def __init__(self, game: Game, *, is_race: bool) -> None:
        super().__init__()
        self._game = game
        self._is_race = is_race
        self._top = 0

    def compose(self) -> ComposeResult:
        yield CanvasView(self._draw, id="help")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(KeyLine).set(
            (("up down", "scroll"), ("space", "next page")), (("?", "back"),)
        )

    def _draw(self, width: int, height: int) -> Canvas:
        canvas = Canvas(width, height)
        lines = help_lines(self._game, min(width - 2, WIDEST), is_race=self._is_race)
        self._top = max(0, min(self._top, len(lines) - height))
        for y, pieces in enumerate(lines[self._top : self._top + height]):
            x = 1
            for text, role in pieces:
                x = canvas.put(x, y, text, role)
        rest = len(lines) - self._top - height
        if rest > 0:
            canvas.put(width - 13, height - 1, f" {rest} more below"[:13], Role.DIM)
        return canvas

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        page = max(1, self.size.height - 3)
        steps = {
            "down": 1, "j": 1, "up": -1, "k": -1, "space": page, "pagedown": page,
            "pageup": -page, "home": -10_000, "end": 10_000,
        }  # fmt: skip
        key = key_of(event)
        if key in CLOSING:
            self.dismiss()
        elif key in steps:
            self.scroll(steps[key])

    def on_mouse_scroll_down(self) -> None:
        self.scroll(3)

    def on_mouse_scroll_up(self) -> None:
        self.scroll(-3)

    def scroll(self, lines: int) -> None:
        """Show what stands so many lines below."""
        self._top += lines
        self.query_one("#help", CanvasView).redraw()
