"""The board pane with clicks and drops, and how often it computes the legal moves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from kit.positions import draw
from saratoga_client.board_view.card_style import CardStyle, suit_colours
from saratoga_client.input import scene
from saratoga_client.input.selection import InputResult, Selection
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.board_pane import BoardPane, BoardPosition
from saratoga_client.tui.colours import paint
from saratoga_rules import judge
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.views import View, redact

LAFAYETTE = GAMES["lafayette"]
STYLE = CardStyle(suits=suit_colours(LAFAYETTE))
VIEW = redact(draw(LAFAYETTE, "stock: 2C 3C\nt1: 9C 7S\nt2: 8H\nt3: QS\nt4: AS"))


class PaneApp(App[None]):
    """An app with a board pane on the whole screen, which collects the pane's messages."""

    def __init__(self) -> None:
        super().__init__()
        self.pane = BoardPane(paint(Colours.ALL))
        self.results: list[InputResult] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_board_pane_pointed(self, event: BoardPane.Pointed) -> None:
        self.results.append(event.result)


@dataclass
class Shown:
    """A board pane that shows a position."""

    app: PaneApp
    pilot: Pilot[None]

    def show(self, refusal: str = "", *, is_interactive: bool = True, view: View = VIEW) -> None:
        self.app.pane.set_position(
            BoardPosition(
                game=LAFAYETTE,
                view=view,
                style=STYLE,
                refusal=refusal,
                is_interactive=is_interactive,
                last_target="t2",
            )
        )
        self.app.pane.draw_position()

    def point(self, pile: str) -> tuple[int, int]:
        """Return a cell of the last card of a pile."""
        layout = self.app.pane.layout_shown
        assert layout is not None
        tile = [tile for tile in layout.tiles if tile.pile == pile][-1]
        return tile.x + 1, tile.y

    async def click(self, pile: str, button: int = 1) -> InputResult:
        await self.pilot.click(BoardPane, offset=self.point(pile), button=button)
        await self.pilot.pause()
        return self.app.results[-1]


@asynccontextmanager
async def shown() -> AsyncIterator[Shown]:
    app = PaneApp()
    async with app.run_test(size=(69, 24)) as pilot:
        pane = Shown(app, pilot)
        pane.show()
        await pilot.pause()
        yield pane


async def test_a_click_posts_its_result() -> None:
    async with shown() as pane:
        result = await pane.click("t1")
        assert result.move == parse_move("t1>t2")


async def test_a_right_click_banks() -> None:
    async with shown() as pane:
        assert (await pane.click("t4", button=3)).move == parse_move("t4>up")


async def test_a_click_on_a_refusing_pane_posts_the_refusal() -> None:
    async with shown() as pane:
        pane.show("Your race is over.")
        assert await pane.click("t1") == InputResult(Selection(), None, "Your race is over.")


async def test_a_pane_that_is_not_interactive_ignores_clicks() -> None:
    async with shown() as pane:
        pane.show(is_interactive=False)
        await pane.pilot.click(BoardPane, offset=pane.point("t1"))
        await pane.pilot.pause()
        assert pane.app.results == []


async def test_a_drag_selects_the_cards_and_a_drop_posts_the_move() -> None:
    async with shown() as pane:
        await pane.pilot.mouse_down(BoardPane, offset=pane.point("t1"))
        await pane.pilot.hover(BoardPane, offset=pane.point("t2"))
        assert pane.app.pane.selection == Selection(picked="t1", size=1)
        await pane.pilot.mouse_up(BoardPane, offset=pane.point("t2"))
        await pane.pilot.pause()
        assert [result.move for result in pane.app.results] == [parse_move("t1>t2")]


async def test_a_drop_beside_the_piles_drops_the_selection() -> None:
    async with shown() as pane:
        await pane.pilot.mouse_down(BoardPane, offset=pane.point("t1"))
        await pane.pilot.hover(BoardPane, offset=(68, 23))
        await pane.pilot.mouse_up(BoardPane, offset=(68, 23))
        await pane.pilot.pause()
        assert pane.app.pane.selection == Selection()
        assert pane.app.results[-1].says == "Pick-up from column 1 cancelled."


async def test_the_legal_moves_are_listed_once_per_view(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = []
    original = judge.legal_moves

    def counting(game: Game, view: View) -> tuple[Move, ...]:
        listed.append(view)
        return tuple(original(game, view))

    monkeypatch.setattr(scene, "legal_moves", counting)
    async with shown() as pane:
        for key in ("1", "escape", "tab", "shift+tab", "escape"):
            pane.show()
            pane.app.pane.press(key)
            pane.app.pane.key_hints()
            pane.show()
        assert listed == [VIEW]
        other = redact(draw(LAFAYETTE, "t1: AS"))
        pane.show(view=other)
        pane.app.pane.press("tab")
        assert listed == [VIEW, other]
