"""The keys and the rules, over whatever goes on below; the race waits for nobody."""

from typing import Final

from textual import events
from textual.app import ComposeResult
from textual.screen import ModalScreen

from saratoga_client.board_view.canvas import Canvas, Piece
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.keys import key_of
from saratoga_client.tui.lines import KeyLine
from saratoga_client.tui.pages.help import help_lines
from saratoga_client.tui.scrolling import Scroll
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
        self._scroll = Scroll()

    def compose(self) -> ComposeResult:
        yield CanvasView(self._draw, id="help")
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one(KeyLine).set(
            (("up down", "scroll"), ("space", "next page")), (("?", "back"),)
        )

    def _draw(self, width: int, height: int) -> Canvas:
        return self._scroll.window(self._page(width), height)

    def _page(self, width: int) -> Canvas:
        lines = help_lines(self._game, min(width - 2, WIDEST), is_race=self._is_race)
        canvas = Canvas(width, len(lines))
        for y, pieces in enumerate(lines):
            canvas.pieces(1, y, tuple(map(Piece._make, pieces)))
        return canvas

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        key = key_of(event)
        if key in CLOSING:
            self.dismiss()
        else:
            self._move({"j": "down", "k": "up"}.get(key, key))

    def on_mouse_scroll_down(self) -> None:
        self._move("down")

    def on_mouse_scroll_up(self) -> None:
        self._move("up")

    def _move(self, key: str) -> None:
        view = self.query_one("#help", CanvasView)
        width, height = view.size
        self._scroll = self._scroll.press(key, self._page(width).height, height)
        view.redraw()
