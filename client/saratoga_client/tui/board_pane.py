"""A board for its player: the selection, its marks, and the effects of the mouse.

Keys, clicks and drops all produce an `InputResult`. A key's result is returned; the mouse's results
are posted as `BoardPane.Pointed`. The legal moves of a view are listed once, however often they are
asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from textual import on
from textual.message import Message

from saratoga_client.board_view.board import Marks
from saratoga_client.board_view.card_style import CardStyle
from saratoga_client.input.key_hints import key_hints
from saratoga_client.input.keyboard import InputResult, marks, press
from saratoga_client.input.mouse import Click, click, drop
from saratoga_client.input.move_text import ascii_card_name, card_name
from saratoga_client.input.pile_keys import pile_keys
from saratoga_client.input.scene import Scene, scene_of
from saratoga_client.input.selection import NO_SELECTION, cleared
from saratoga_client.tui.board_widget import BoardWidget
from saratoga_client.tui.colours import Paint
from saratoga_client.tui.lines import Guide
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.position import View

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
