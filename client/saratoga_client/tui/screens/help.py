"""The screen of the help, shown over another screen: the rules of the game, then the keys."""

from collections.abc import Iterable
from typing import ClassVar, Final

from rich.console import RenderableType
from textual.widget import Widget

from saratoga_client.tui.base_screen import BaseScreen, Guide
from saratoga_client.tui.pages.help import RACE_KEYS, Keys, help_page
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_rules.game import Game

CLOSING: Final = ("?", "escape", "q", "enter")
WIDEST: Final = 98
"""Maximum width of the text in cells; longer lines are hard to read."""


class HelpScreen(BaseScreen):
    """A scrolling help page."""

    DEFAULT_CSS = f"HelpScreen #help {{ max-width: {WIDEST}; }}"
    ALWAYS: ClassVar[Guide] = (("?", "back"),)
    TICK = 0

    def __init__(self, game: Game, keys: Keys = RACE_KEYS, heading: str = "KEYS IN A RACE") -> None:
        """Show the help of a game, with the keys of the screen below."""
        super().__init__()
        self._game = game
        self._screen_keys = keys
        self._heading = heading

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw, id="help")

    def _draw(self, ink: Ink) -> RenderableType:
        return help_page(self._game, self._screen_keys, self._heading, ink)

    def facts(self) -> list[str]:
        return [self._game.title.upper(), "help"]

    def guide(self) -> Guide:
        return (*self.scroll_guide(), ("up down", "scroll"))

    def press(self, key: str) -> None:
        if key in CLOSING:
            self.dismiss()
        else:
            super().press({"j": "down", "k": "up"}.get(key, key))
