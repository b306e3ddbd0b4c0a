"""A board on the screen, and the base of the screens with one: race, practice and replay.

Keys, clicks and drops all produce an `InputResult`. A key's result is returned; the mouse's results
are posted as `BoardPane.Pointed`. The legal moves of a view are listed once, however often they are
asked for. A key or a mouse action changes the state first; then the screen is drawn once.
"""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Final

from textual import events, on
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.draw import MARGIN, draw_board, rule_rows
from saratoga_client.board_view.faces import CardStyle
from saratoga_client.board_view.layout import BoardLayout, Spot, lay_out
from saratoga_client.board_view.roles import Role
from saratoga_client.input.find import PROMPT, Finder, found_text
from saratoga_client.input.keyboard import key_hints, press
from saratoga_client.input.mouse import Click, click, drop
from saratoga_client.input.move_text import ascii_card_name, card_name, pile_cards
from saratoga_client.input.scene import Scene, scene_of
from saratoga_client.input.selection import NO_SELECTION, InputResult, Marks, cleared, marks
from saratoga_client.tui.base_screen import BaseScreen, Guide, Key, Keys
from saratoga_client.tui.widgets import CanvasView
from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.position import View

LEFT_BUTTON: Final = 1
RIGHT_BUTTON: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPosition:
    """The position that a board pane shows, and whether its player can move."""

    game: Game
    view: View
    style: CardStyle
    find: str = ""
    """The rank, the suit or the card to highlight."""
    refusal: str = ""
    """The reason why no move can be made now; empty if moves can be made."""
    last_target: str = ""
    """The pile that the last move ended on, highlighted in a replay."""
    is_interactive: bool = True
    """True if the piles show their keys and react to the mouse; false in a replay."""


@dataclass(slots=True)
class _Grip:
    """Cards held with a mouse button; the hold is a drag once the pointer leaves the cell."""

    spot: Spot
    cards: tuple[Card, ...]
    pressed: tuple[int, int]
    is_drag: bool = False


class BoardPane(CanvasView):
    """One board with its player's selection."""

    DEFAULT_CSS: ClassVar[str] = "BoardPane { width: 1fr; height: 1fr; }"
    with_time = False

    @dataclass
    class Pointed(Message):
        """The message that the player clicked or dropped cards, with the result."""

        result: InputResult

    def __init__(self, *, quick: bool = False, id: str | None = None) -> None:  # noqa: A002
        super().__init__(self._draw_board, id=id)
        self.selection = replace(NO_SELECTION, quick=quick)
        self.layout_shown: BoardLayout | None = None
        """The layout of the shown view; `None` before the first view."""
        self._position: BoardPosition | None = None
        self._scene: Scene | None = None
        self._drawn: object = None
        """What the last drawing depended on."""
        self._grip: _Grip | None = None
        self._was_dragged = False

    @property
    def position(self) -> BoardPosition:
        """The position most recently set by `set_position`."""
        assert self._position is not None, "no position yet"
        return self._position

    @property
    def scene(self) -> Scene:
        """The position with all its legal moves."""
        if self._scene is None:
            position = self.position
            name = ascii_card_name if position.style.ascii else card_name
            self._scene = scene_of(position.game, position.view, name)
        return self._scene

    def set_position(self, position: BoardPosition) -> None:
        """Set the position for the next key or drawing; `draw_position` shows it."""
        former, self._position = self._position, position
        if former is None or (former.game, former.view, former.style.ascii) != (
            position.game,
            position.view,
            position.style.ascii,
        ):
            self._scene = None

    def redraw(self) -> None:
        """Draw the position with the selection's marks, if they or the size differ from those drawn."""
        if self._position is not None:
            drawn, self._drawn = self._drawn, (self._position, self._marks_now(), self.outer_size)
            if drawn != self._drawn:
                super().redraw()

    def _draw_board(self, width: int, height: int) -> Canvas:
        position = self._position
        if position is None:
            return Canvas(width, height)
        game, view, lit = position.game, position.view, self._marks_now()
        layout = self.layout_shown = lay_out(game, view, width, height, lit.picked)
        canvas = draw_board(game, view, lit, position.style, layout)
        for y, text in rule_rows(game, view, layout).items():
            canvas.put(MARGIN, y, text, Role.LABEL)
        if self._grip and self._cards_at(self._grip.spot) != self._grip.cards:
            self._let_go()
        return canvas

    def _marks_now(self) -> Marks:
        position = self.position
        if self._can_move:
            lit = marks(self.scene, self.selection)
        else:
            lit = Marks(targets=frozenset(filter(None, (position.last_target,))))
        return lit._replace(find=position.find, has_keys=position.is_interactive)

    @property
    def _can_move(self) -> bool:
        return self.position.is_interactive and not self.position.refusal

    def on_resize(self, event: events.Resize) -> None:
        self._let_go()

    # Keys

    def press(self, key: str) -> InputResult:
        """Return the result of a key, and keep its selection."""
        return self._keep(press(self.scene, self.selection, key))

    def key_hints(self) -> Guide:
        """Return the keys that work now, each with its effect."""
        return key_hints(self.scene, self.selection)

    def clear_selection(self) -> None:
        """Drop the selection."""
        self.selection = cleared(self.selection)

    def highlight(self, move: Move | None) -> None:
        """Select a move as Tab does, so that Enter plays it; `None` clears the selection."""
        self.selection = replace(cleared(self.selection), lit=move)

    def _keep(self, result: InputResult) -> InputResult:
        self.selection = result.selection
        return result

    # The mouse

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._was_dragged = False
        spot = self.layout_shown.at(event.x, event.y) if self.layout_shown else None
        if event.button != LEFT_BUTTON or spot is None or self.layout_shown is None:
            return
        cards = self._cards_at(spot)
        if cards:
            self._grip = _Grip(spot, cards, (event.x, event.y))
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        grip = self._grip
        if grip is None or grip.is_drag or (event.x, event.y) == grip.pressed:
            return
        grip.is_drag = self._was_dragged = True
        if self._can_move:
            self.selection = replace(
                cleared(self.selection), picked=grip.spot.pile, size=len(grip.cards)
            )
            self.redraw()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        grip = self._grip
        self._let_go()
        if grip is None or not grip.is_drag or self.layout_shown is None:
            return
        target, source = self.layout_shown.at(event.x, event.y), grip.spot.pile
        if not self._refused():
            if target is None or target.pile == source:
                result = press(self.scene, self.selection, "escape")
            else:
                result = drop(self.scene, self.selection, source, len(grip.cards), target.pile)
            self.post_message(self.Pointed(self._keep(result)))

    def on_click(self, event: events.Click) -> None:
        spot = self.layout_shown.at(event.x, event.y) if self.layout_shown else None
        if spot is None or self.layout_shown is None or self._was_dragged or self._refused():
            return
        kind = Click.DOUBLE if event.chain > 1 else Click.SINGLE
        if event.button == RIGHT_BUTTON:
            kind = Click.RIGHT
        result = click(self.scene, self.selection, spot.pile, spot.count, kind)
        self.post_message(self.Pointed(self._keep(result)))

    def _cards_at(self, spot: Spot) -> tuple[Card, ...]:
        """Return the face-up cards that a drag lifts from a spot."""
        pile = pile_cards(self.position.view, spot.pile)
        return pile[-spot.count :] if 0 < spot.count <= len(pile) else ()

    def _refused(self) -> bool:
        """Return whether the mouse does nothing now; a reason to tell the player is posted."""
        position = self.position
        if position.is_interactive and position.refusal:
            self.post_message(self.Pointed(InputResult(self.selection, position.refusal)))
        return not self._can_move

    def _let_go(self) -> None:
        if self._grip is not None:
            self._grip = None
            self.release_mouse()


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
