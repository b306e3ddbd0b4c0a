"""The base of the screens with a board: race, practice and replay.

It has the board, the panel beside it, the card search, the mouse and the keys that all three share.
A key or a mouse action changes the state first; then the screen is drawn once.
"""

from abc import abstractmethod
from collections.abc import Iterable
from functools import partial
from typing import Any

from textual import on
from textual.containers import Horizontal
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.input.find import PROMPT, Finder, found_text
from saratoga_client.input.selection import InputResult
from saratoga_client.tui.base_screen import BaseScreen, Guide, Key, Keys
from saratoga_client.tui.board_pane import BoardPane, BoardPosition
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_rules.game import Game


class GameScreen(BaseScreen):
    """A screen with a board that is played or replayed."""

    DEFAULT_CSS = """
    GameScreen #table { height: 1fr; visibility: hidden; }
    GameScreen #table > * { visibility: visible; }
    GameScreen #ticker { height: 1; display: none; }
    GameScreen.-ticker #side { display: none; }
    GameScreen.-ticker #ticker { display: block; }
    GameScreen.-focus #side, GameScreen.-focus #ticker { display: none; }
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.finder = Finder()

    def body(self) -> Iterable[Widget]:
        with Horizontal(id="table"):
            yield BoardPane(quick=self.program.appearance.quick, id="board")
            yield from self.side()
        yield CanvasView(self.draw_ticker, id="ticker")

    @property
    def pane(self) -> BoardPane:
        """The board that keys act on."""
        return self.query_one("#board", BoardPane)

    # Of each game screen

    @abstractmethod
    def own_keys(self) -> Keys:
        """Return the keys that not every screen with a board has; a card search has none of them."""

    @abstractmethod
    def side(self) -> Iterable[Widget]:
        """Return the widgets beside the board; the outermost has the id `side`."""

    @abstractmethod
    def position(self) -> BoardPosition:
        """Return the position for the board."""

    @abstractmethod
    def play(self, result: InputResult) -> None:
        """Carry out the result of a key, a click or a drop."""

    @abstractmethod
    def draw_ticker(self, width: int, height: int) -> Canvas:
        """Draw the line that replaces the panel on small screens."""

    # Drawing

    def redraw(self) -> None:
        self.pane.set_position(self.position())
        super().redraw()

    def keys(self) -> Keys:
        search = partial(partial, self._search)
        if self.finder.is_open:
            # every other key is part of the search, also `?` and `q`
            return (
                Key("enter", "keep", "", search("enter")),
                Key("escape", "end", "", search("escape"), shown="esc"),
            )
        find = "find cards: type a rank, a suit or both; all visible ones light up"
        return (
            Key("escape", "", "", search("escape"), when=bool(self.finder.text)),
            *self.own_keys(),
            Key("/", "find", find, search("/")),
            Key("p", "panel", "hide the panel, or show it again", self._toggle_panel),
            Key("c", "suits", "two or four colours of suits", self._change_suits),
            *super().keys(),
        )

    def hints(self) -> Guide:
        is_played = self.position().is_interactive and not self.finder.is_open
        return self.pane.key_hints() if is_played else ()

    @property
    def game(self) -> Game | None:
        return self.position().game

    # Keys and the mouse

    def press(self, key: str) -> None:
        if self.finder.is_open:
            self._search(key)
        else:
            super().press(key)

    def _toggle_panel(self) -> None:
        self.toggle_class("-focus")
        self.say("The panel is hidden; p shows it." if self.has_class("-focus") else "")

    def _change_suits(self) -> None:
        colours = self.program.other_suits(self.position().game)
        self.say(f"The suits have {colours} colours now.")

    def press_board(self, key: str) -> None:
        """Pass a key to the board and carry out the result."""
        self.pane.set_position(self.position())
        self.play(self.pane.press(key))

    @on(BoardPane.Pointed)
    def _pointed(self, event: BoardPane.Pointed) -> None:
        self.drop_question()
        self.play(event.result)
        self.redraw()

    def _search(self, key: str) -> None:
        self.finder = self.finder.press(key)
        if self.finder.text:
            position = self.position()
            text = found_text(position.game, position.view, self.finder.text, self.card_name)
            self.say(text)
        else:
            self.say(PROMPT if self.finder.is_open else "Search cleared.")
