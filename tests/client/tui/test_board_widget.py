"""The board's widgets with keys, mouse and resizes, and which rows are painted again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip

from kit.board_pictures import LABELS
from kit.positions import draw
from saratoga_client.board_view.draw import Marks
from saratoga_client.board_view.faces import CardStyle, suit_colours
from saratoga_client.board_view.layout import Spot, Tile
from saratoga_client.board_view.roles import Role
from saratoga_client.input.selection import InputResult, Selection
from saratoga_client.local.terminal import Colours
from saratoga_client.tui.board_pane import BoardPane, BoardPosition, BoardWidget
from saratoga_client.tui.theme import paint
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, redact

LADY_PALK = GAMES["lady-palk"]
PICTURE = "t1: KD QD\nt2: 9H KS QH JS TD\nt3: JC\nt5: 4C\nwaste: 5D 6C\nstock: 2H 3H\nup: S6"
VIEW = redact(draw(LADY_PALK, PICTURE))
LOOK = CardStyle()


class WatchedBoard(BoardWidget):
    """A widget that records the rows it has to draw."""

    painted: list[int]

    def render_line(self, y: int) -> Strip:
        self.painted.append(y)
        return super().render_line(y)


class Table(App[None]):
    """An app with only a board, which records the board's messages."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Message] = []
        self.board = WatchedBoard()
        self.board.painted = []

    def compose(self) -> ComposeResult:
        yield self.board

    def on_board_widget_clicked(self, message: BoardWidget.Clicked) -> None:
        self.heard.append(message)

    def on_board_widget_lifted(self, message: BoardWidget.Lifted) -> None:
        self.heard.append(message)

    def on_board_widget_dropped(self, message: BoardWidget.Dropped) -> None:
        self.heard.append(message)

    def on_board_widget_missed(self, message: BoardWidget.Missed) -> None:
        self.heard.append(message)


@asynccontextmanager
async def table(view: View = VIEW) -> AsyncIterator[tuple[Table, Pilot[None]]]:
    app = Table()
    async with app.run_test(size=(55, 21)) as pilot:
        app.board.show(LADY_PALK, view, Marks(labels=LABELS), LOOK)
        await pilot.pause()
        app.board.painted.clear()
        yield app, pilot


def place(app: Table, pile: str, index: int | None = None) -> Tile:
    layout = app.board.layout_shown
    assert layout is not None
    found = layout.tile(Spot(pile, index))
    assert found is not None
    return found


def corner(app: Table, pile: str, index: int | None = None) -> tuple[int, int]:
    found = place(app, pile, index)
    return found.x + 1, found.y


def screen(app: Table) -> list[str]:
    return [
        "".join(segment.text for segment in app.board.render_line(y))
        for y in range(app.board.size.height)
    ]


async def drag(
    pilot: Pilot[None], app: Table, start: tuple[int, int], *stops: tuple[int, int]
) -> None:
    await pilot.mouse_down(app.board, offset=start)
    for stop in stops:
        await pilot.hover(app.board, offset=stop)
    await pilot.mouse_up(app.board, offset=stops[-1])
    await pilot.pause()


async def test_stock_keys_and_spaces_can_be_clicked_and_the_table_cannot() -> None:
    async with table() as (app, pilot):
        await pilot.click(app.board, offset=corner(app, "stock"))
        await pilot.click(app.board, offset=corner(app, "t4"))
        await pilot.click(app.board, offset=(54, 20))
        assert [
            message.spot for message in app.heard if isinstance(message, BoardWidget.Clicked)
        ] == [
            Spot("stock"),
            Spot("t4"),
        ]


async def test_clicks_before_the_first_view_are_ignored() -> None:
    app = Table()
    async with app.run_test(size=(55, 21)) as pilot:
        await pilot.click(app.board, offset=(5, 5))
        assert app.heard == []
        assert set("".join(screen(app))) == {" "}


async def test_a_packet_can_be_dropped_into_a_space_or_under_a_column() -> None:
    async with table() as (app, pilot):
        x, y = corner(app, "t5", 0)
        await drag(pilot, app, corner(app, "t3", 0), (x, y + 9))
        await drag(pilot, app, corner(app, "t3", 0), corner(app, "t4"))
        dropped = [one.target for one in app.heard if isinstance(one, BoardWidget.Dropped)]
        assert dropped == [Spot("t5"), Spot("t4")]


async def test_a_packet_dropped_on_the_table_or_its_own_column_is_missed() -> None:
    async with table() as (app, pilot):
        start = corner(app, "t2", 3)
        await drag(pilot, app, start, (53, 20))
        await drag(pilot, app, start, (start[0], start[1] + 1))
        assert (
            app.heard
            == [
                BoardWidget.Lifted(Spot("t2", 3), 2),
                BoardWidget.Missed(Spot("t2", 3)),
            ]
            * 2
        )


async def test_the_stock_is_not_dragged() -> None:
    async with table() as (app, pilot):
        await drag(pilot, app, corner(app, "stock"), (30, 10), corner(app, "t1", 1))
        assert not any(isinstance(one, BoardWidget.Lifted) for one in app.heard)


async def test_a_pressed_card_that_does_not_move_is_a_click() -> None:
    async with table() as (app, pilot):
        start = corner(app, "t2", 3)
        await pilot.mouse_down(app.board, offset=start)
        await pilot.hover(app.board, offset=start)
        await pilot.mouse_up(app.board, offset=start)
        await pilot.pause()
        assert not any(isinstance(one, BoardWidget.Lifted) for one in app.heard)


async def test_only_rows_that_changed_are_painted_again() -> None:
    async with table() as (app, pilot):
        marks = Marks(labels=LABELS, picked=("t3", 1))
        app.board.show(LADY_PALK, VIEW, marks, LOOK)
        await pilot.pause()
        card = place(app, "t3", 0)
        assert set(app.board.painted) == set(range(card.y, card.y + card.height))


async def test_the_same_again_paints_nothing() -> None:
    async with table() as (app, pilot):
        app.board.show(LADY_PALK, VIEW, Marks(labels=LABELS), LOOK)
        await pilot.pause()
        assert app.board.painted == []


async def test_another_size_is_drawn_afresh_and_clicks_find_the_cards_there() -> None:
    async with table() as (app, pilot):
        was = place(app, "t8")
        await pilot.resize_terminal(88, 37)
        await pilot.pause()
        now = place(app, "t8")
        assert now.size > was.size
        await pilot.click(app.board, offset=corner(app, "t2", 4))
        assert app.heard == [BoardWidget.Clicked(Spot("t2", 4), 1, 1, 1)]


@pytest.mark.parametrize("size", [(88, 21), (54, 21), (55, 37), (55, 20)])
async def test_a_board_grows_and_shrinks_to_one_side_alone(size: tuple[int, int]) -> None:
    async with table() as (app, pilot):
        await pilot.resize_terminal(*size)
        await pilot.pause()
        assert [len(row) for row in screen(app)] == [size[0]] * size[1]


async def test_a_resize_ends_a_drag() -> None:
    async with table() as (app, pilot):
        await pilot.mouse_down(app.board, offset=corner(app, "t2", 3))
        await pilot.hover(app.board, offset=(21, 15))
        await pilot.resize_terminal(88, 37)
        await pilot.pause()
        await pilot.mouse_up(app.board, offset=(21, 15))
        await pilot.pause()
        assert app.heard == [BoardWidget.Lifted(Spot("t2", 3), 2)]


@pytest.mark.parametrize("is_gone", [True, False])
async def test_a_change_ends_a_drag_only_if_the_packet_is_gone(is_gone: bool) -> None:
    async with table() as (app, pilot):
        await pilot.mouse_down(app.board, offset=corner(app, "t2", 3))
        await pilot.hover(app.board, offset=(21, 15))
        other = redact(draw(LADY_PALK, PICTURE.replace("t5: 4C", "t5: 4C 3C")))
        app.board.show(LADY_PALK, other, Marks(labels=LABELS, picked=("t2", 2)), LOOK)
        gone = redact(draw(LADY_PALK, PICTURE.replace(" JS TD", "")))
        if is_gone:
            app.board.show(LADY_PALK, gone, Marks(labels=LABELS), LOOK)
        await pilot.mouse_up(app.board, offset=(21, 15))
        await pilot.pause()
        lifted, *ended = app.heard
        assert isinstance(lifted, BoardWidget.Lifted)
        assert bool(ended) is not is_gone


async def test_new_colours_are_put_on_everything() -> None:
    async with table() as (app, pilot):
        app.board.dress(paint(Colours.ALL, "paper"))
        await pilot.pause()
        assert set(app.board.painted) == set(range(21))
        first = next(iter(app.board.render_line(20)))
        assert first.style == paint(Colours.ALL, "paper")[Role.TABLE]


LAFAYETTE = GAMES["lafayette"]
STYLE = CardStyle(suits=suit_colours(LAFAYETTE))
VIEW_OF_BOARD_PANE = redact(draw(LAFAYETTE, "stock: 2C 3C\nt1: 9C 7S\nt2: 8H\nt3: QS\nt4: AS"))


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

    def show(
        self, refusal: str = "", *, is_interactive: bool = True, view: View = VIEW_OF_BOARD_PANE
    ) -> None:
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


async def test_a_pane_that_is_not_interactive_ignores_clicks() -> None:
    async with shown() as pane:
        pane.show(is_interactive=False)
        await pane.pilot.click(BoardPane, offset=pane.point("t1"))
        await pane.pilot.pause()
        assert pane.app.results == []


async def test_a_drop_beside_the_piles_drops_the_selection() -> None:
    async with shown() as pane:
        await pane.pilot.mouse_down(BoardPane, offset=pane.point("t1"))
        await pane.pilot.hover(BoardPane, offset=(68, 23))
        await pane.pilot.mouse_up(BoardPane, offset=(68, 23))
        await pane.pilot.pause()
        assert pane.app.pane.selection == Selection()
        assert pane.app.results[-1].says == "Pick-up from column 1 cancelled."
