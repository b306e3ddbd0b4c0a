"""A board for its player: the selection, its marks, and the effects of the mouse.

Keys, clicks and drops all produce an `InputResult`. A key's result is returned; the mouse's results
are posted as `BoardPane.Pointed`. The legal moves of a view are listed once, however often they are
asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from textual import events, on
from textual.geometry import Offset
from textual.message import Message

from saratoga_client.board_view.draw import MARGIN, Marks, draw_board, rule_rows
from saratoga_client.board_view.faces import CardStyle
from saratoga_client.board_view.layout import BoardLayout, Spot, lay_out
from saratoga_client.board_view.roles import Role
from saratoga_client.input.key_hints import key_hints
from saratoga_client.input.keyboard import InputResult, marks, press
from saratoga_client.input.mouse import Click, click, drop
from saratoga_client.input.move_text import ascii_card_name, card_name
from saratoga_client.input.pile_keys import pile_keys
from saratoga_client.input.scene import Scene, scene_of
from saratoga_client.input.selection import NO_SELECTION, cleared
from saratoga_client.tui.base_screen import Guide
from saratoga_client.tui.painted_rows import PaintedRows
from saratoga_client.tui.theme import Paint
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.position import View

LEFT_BUTTON = 1


@dataclass(frozen=True, slots=True)
class _Shown:
    """The arguments of the last call of `show`."""

    game: Game
    view: View
    marks: Marks
    style: CardStyle


@dataclass(slots=True)
class _Grip:
    """A card held with a mouse button; the hold is a drag once the pointer leaves the cell."""

    spot: Spot
    cards: tuple[Card, ...]
    pressed: Offset
    moving: bool = False


class BoardWidget(PaintedRows):
    """The board of one racer."""

    DEFAULT_CSS: ClassVar[str] = """
    BoardWidget { width: 1fr; height: 1fr; }
    """

    @dataclass
    class Clicked(Message):
        """The message that a mouse button was pressed and released on a pile."""

        spot: Spot
        count: int
        """The number of cards from there to the top of the column; see `BoardLayout.count_from`."""
        button: int
        """1: left, 2: middle, 3: right."""
        chain: int
        """1: a single click, 2: the second click of a double click."""

    @dataclass
    class Lifted(Message):
        """The message that a drag has begun."""

        spot: Spot
        count: int

    @dataclass
    class Dropped(Message):
        """The message that a packet was dropped on another pile."""

        source: Spot
        count: int
        target: Spot

    @dataclass
    class Missed(Message):
        """The message that a packet was dropped where there is no other pile."""

        source: Spot

    def __init__(self, colours: Paint | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(colours, id=id)
        self._shown: _Shown | None = None
        self._layout: BoardLayout | None = None
        self._grip: _Grip | None = None
        self._dragged = False

    def show(self, game: Game, view: View, marks: Marks, style: CardStyle) -> None:
        """Show a view; only the rows that differ are repainted."""
        shown = _Shown(game, view, marks, style)
        if shown != self._shown:
            self._shown = shown
            self._draw()

    @property
    def layout_shown(self) -> BoardLayout | None:
        """The layout of the shown view; `None` before the first view."""
        return self._layout

    def on_resize(self, event: events.Resize) -> None:
        self._let_go()
        self._draw()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragged = False
        if event.button != LEFT_BUTTON or self._layout is None or self._shown is None:
            return
        spot = self._layout.at(event.x, event.y)
        if spot is None or spot.index is None:
            return
        cards = self._layout.cards_from(spot)
        if not cards or cards[-1] == HIDDEN:
            return
        self._grip = _Grip(spot, cards, Offset(event.x, event.y))
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        grip = self._grip
        if grip is None or grip.moving or Offset(event.x, event.y) == grip.pressed:
            return
        grip.moving = True
        self._dragged = True
        self.post_message(self.Lifted(grip.spot, len(grip.cards)))

    def on_mouse_up(self, event: events.MouseUp) -> None:
        grip = self._grip
        if grip is None:
            return
        self._let_go()
        if not grip.moving or self._layout is None:
            return
        target = self._layout.at(event.x, event.y)
        if target is None or target.pile == grip.spot.pile:
            self.post_message(self.Missed(grip.spot))
        else:
            self.post_message(self.Dropped(grip.spot, len(grip.cards), target))

    def on_click(self, event: events.Click) -> None:
        if self._dragged or self._layout is None:
            self._dragged = False
            return
        spot = self._layout.at(event.x, event.y)
        if spot is not None:
            count = self._layout.count_from(spot)
            self.post_message(self.Clicked(spot, count, event.button, event.chain))

    def _let_go(self) -> None:
        if self._grip is not None:
            self._grip = None
            self.release_mouse()

    def _draw(self) -> None:
        shown, size = self._shown, self.size
        if shown is None or not size:
            return
        picked = shown.marks.picked
        self._layout = lay_out(shown.game, shown.view, size.width, size.height, picked)
        drawn = draw_board(shown.game, shown.view, shown.marks, shown.style, self._layout)
        for y, text in rule_rows(shown.game, shown.view, self._layout).items():
            drawn.put(MARGIN, y, text, Role.LABEL)
        if self._grip and self._layout.cards_from(self._grip.spot) != self._grip.cards:
            self._let_go()
        self.show_rows(drawn.rows())


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


class BoardPane(BoardWidget):
    """One board with its player's selection."""

    @dataclass
    class Pointed(Message):
        """The message that the player clicked or dropped cards, with the result."""

        result: InputResult

    def __init__(
        self,
        colours: Paint,
        *,
        quick: bool = False,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(colours, id=id)
        self.selection = replace(NO_SELECTION, quick=quick)
        self._position: BoardPosition | None = None
        self._scene: Scene | None = None

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

    def draw_position(self) -> None:
        """Draw the position with the selection's marks."""
        position = self.position
        self.show(position.game, position.view, self._marks(position), position.style)

    def _marks(self, position: BoardPosition) -> Marks:
        labels = pile_keys(position.game).by_pile if position.is_interactive else {}
        if position.refusal or not position.is_interactive:
            targets = frozenset((position.last_target,) if position.last_target else ())
            return Marks(targets=targets, find=position.find, labels=labels)
        lit = marks(self.scene, self.selection)
        return Marks(
            picked=lit.picked,
            targets=lit.targets,
            source_lit=lit.sources,
            find=position.find,
            labels=labels,
        )

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

    @on(BoardWidget.Clicked)
    def _clicked(self, event: BoardWidget.Clicked) -> None:
        kind = Click.DOUBLE if event.chain > 1 else Click.SINGLE
        if event.button == RIGHT_BUTTON:
            kind = Click.RIGHT
        self._point(lambda: click(self.scene, self.selection, event.spot.pile, event.count, kind))

    @on(BoardWidget.Lifted)
    def _lifted(self, event: BoardWidget.Lifted) -> None:
        if self.position.is_interactive and not self.position.refusal:
            self.selection = replace(
                cleared(self.selection), picked=event.spot.pile, size=event.count
            )
            self.draw_position()

    @on(BoardWidget.Dropped)
    def _dropped(self, event: BoardWidget.Dropped) -> None:
        source, target = event.source.pile, event.target.pile
        self._point(lambda: drop(self.scene, self.selection, source, event.count, target))

    @on(BoardWidget.Missed)
    def _missed(self, event: BoardWidget.Missed) -> None:
        self._point(lambda: press(self.scene, self.selection, "escape"))

    def _point(self, act: Callable[[], InputResult]) -> None:
        position = self.position
        if not position.is_interactive:
            return
        if position.refusal:
            self.post_message(self.Pointed(InputResult(self.selection, None, position.refusal)))
        else:
            self.post_message(self.Pointed(self._keep(act())))
