"""A board with the mouse, resizes and new colours."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from kit.positions import draw
from saratoga_client.board_view.faces import CardStyle
from saratoga_client.board_view.layout import Tile
from saratoga_client.input.selection import InputResult, Selection
from saratoga_client.tui.game_screen import BoardPane, BoardPosition
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, redact

LADY_PALK = GAMES["lady-palk"]
PICTURE = "t1: KD QD\nt2: 9H KS QH JS TD\nt3: JC\nt5: 4C\nwaste: 5D 6C\nstock: 2H 3H\nup: S6"
VIEW = redact(draw(LADY_PALK, PICTURE))
HELD = Selection(picked="t2", size=2)


class Table(App[None]):
    """An app with only a board, which records the results of the mouse."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.results: list[InputResult] = []
        self.board = BoardPane()

    def compose(self) -> ComposeResult:
        yield self.board

    def on_board_pane_pointed(self, message: BoardPane.Pointed) -> None:
        self.results.append(message.result)


@dataclass
class Shown:
    """A board that shows a position."""

    app: Table
    pilot: Pilot[None]

    @property
    def board(self) -> BoardPane:
        return self.app.board

    def show(self, view: View = VIEW, refusal: str = "", *, is_interactive: bool = True) -> None:
        self.board.set_position(
            BoardPosition(
                game=LADY_PALK,
                view=view,
                style=CardStyle(),
                refusal=refusal,
                is_interactive=is_interactive,
            )
        )
        self.board.redraw()

    def tile(self, pile: str, index: int = 0) -> Tile:
        layout = self.board.layout_shown
        assert layout is not None
        return [tile for tile in layout.tiles if tile.pile == pile][index]

    def corner(self, pile: str, index: int = 0) -> tuple[int, int]:
        found = self.tile(pile, index)
        return found.x + 1, found.y

    async def click(self, offset: tuple[int, int]) -> None:
        await self.pilot.click(self.board, offset=offset)
        await self.pilot.pause()

    async def lift(self, start: tuple[int, int], *stops: tuple[int, int]) -> None:
        await self.pilot.mouse_down(self.board, offset=start)
        for stop in stops:
            await self.pilot.hover(self.board, offset=stop)

    async def drag(self, start: tuple[int, int], *stops: tuple[int, int]) -> list[str]:
        """Drag from a cell over others and let go; return what was played or said, each once."""
        self.app.results.clear()
        await self.lift(start, *stops)
        await self.pilot.mouse_up(self.board, offset=stops[-1])
        await self.pilot.pause()
        return [str(result.move or result.says) for result in self.app.results]


@asynccontextmanager
async def table() -> AsyncIterator[Shown]:
    app = Table()
    async with app.run_test(size=(55, 21)) as pilot:
        shown = Shown(app, pilot)
        await shown.click((5, 5))
        assert app.results == []
        shown.show()
        await pilot.pause()
        yield shown


async def test_piles_can_be_clicked_and_the_bare_table_cannot() -> None:
    async with table() as shown:
        await shown.click((54, 20))
        await shown.click(shown.corner("stock"))
        await shown.click(shown.corner("t4"))
        assert [str(result.move) for result in shown.app.results] == ["draw", "None"]
        assert shown.app.results[-1].says.startswith("Column 4 is empty.")
        shown.show(refusal="The race is over.")
        await shown.click(shown.corner("stock"))
        assert shown.app.results[-1] == InputResult(Selection(), "The race is over.")
        shown.show(is_interactive=False)
        await shown.click(shown.corner("stock"))
        assert len(shown.app.results) == 3


async def test_cards_are_dragged_into_spaces_and_under_columns() -> None:
    async with table() as shown:
        x, y = shown.corner("t1", 1)
        card = shown.corner("t3", 0)
        assert await shown.drag(card, (x, y + 9)) == ["t3>t1"]
        assert await shown.drag(shown.corner("t2", 1), (30, 15), shown.corner("t4")) == ["t2>t4:4"]
        missed = ["Pick-up from column 3 cancelled."]
        assert await shown.drag(card, (53, 20)) == missed
        assert await shown.drag(card, (card[0], card[1] + 1)) == missed
        assert shown.board.selection == Selection()
        assert await shown.drag(shown.corner("stock"), (30, 10)) == []
        assert await shown.drag(card, card) == []


async def test_a_drag_ends_when_the_board_changes_its_size_or_the_cards_are_gone() -> None:
    async with table() as shown:
        start = shown.corner("t2", 3)
        other = redact(draw(LADY_PALK, PICTURE.replace("t5: 4C", "t5: 4C 3C")))
        gone = redact(draw(LADY_PALK, PICTURE.replace(" JS TD", "")))
        for view, answers in ((other, 1), (gone, 0)):
            shown.show()
            await shown.lift(start, (21, 15))
            assert shown.board.selection == HELD
            shown.show(view)
            await shown.pilot.mouse_up(shown.board, offset=(21, 15))
            await shown.pilot.pause()
            assert len(shown.app.results) == answers
            shown.app.results.clear()
        shown.show()
        await shown.lift(start, (21, 15))
        await shown.pilot.resize_terminal(88, 37)
        await shown.pilot.mouse_up(shown.board, offset=(21, 15))
        await shown.pilot.pause()
        assert shown.app.results == []
