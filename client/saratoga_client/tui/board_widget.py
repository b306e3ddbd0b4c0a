"""The board as one widget: it repaints what has changed and posts clicks and drops.

The widget does not know the legal moves. One widget per board is faster than one widget per card.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Offset
from textual.message import Message

from saratoga_client.board_view.board import Marks, draw_board
from saratoga_client.board_view.card_style import CardStyle
from saratoga_client.board_view.layout import BoardLayout, Spot, lay_out
from saratoga_client.board_view.roles import Role
from saratoga_client.board_view.rule_line import MARGIN, rule_rows
from saratoga_client.tui.colours import Paint
from saratoga_client.tui.painted_rows import PaintedRows
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.game import Game
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
