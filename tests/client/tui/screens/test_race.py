"""The race screen with keys and mouse: every input gets an answer, and the board is right."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from textual.events import MouseScrollDown

from kit.positions import draw
from kit.screens import TablePlayer, race, table_player
from kit.session_states import START, board, opening, snapshot, state_after, table
from saratoga_client.input.mouse import FACE_DOWN
from saratoga_client.tui.widgets import ScrollPage
from saratoga_rules.games import GAMES


async def test_only_sixteen_keys_are_queued() -> None:
    async with race() as at_table:
        await at_table.press("space")
        for _ in range(17):
            at_table.screen.handle("escape")
        await at_table.settled()
        assert at_table.message == "The server has not answered yet; that key was ignored."


async def test_the_clock_warns_before_the_cap() -> None:
    async with race() as at_table:
        assert at_table.rows[0].endswith("8:55")
        calm = {style for _, style in at_table.cells[0]}
        at_table.seat.time = START + 580_000
        at_table.screen.tick()
        await at_table.settled()
        assert at_table.rows[0].endswith("0:20")
        assert {style for _, style in at_table.cells[0]} != calm


POSITION = draw(GAMES["klondike"], "t1: 2C | 9H\nt2: 3D | TC\nt3: 8S")
"""A position in which 9H goes on TC and turns up 2C."""


@asynccontextmanager
async def klondike_race() -> AsyncIterator[TablePlayer]:
    shown = table(game="klondike")
    first = state_after(first=snapshot("y4 a3 r2", board(POSITION, game="klondike"), shown))
    async with table_player(first, position=POSITION) as at_table:
        yield at_table


async def test_a_face_down_card_cannot_be_lifted_and_a_click_on_it_says_why() -> None:
    async with klondike_race() as at_table:
        point = at_table.point("t1")
        await at_table.pilot.mouse_down(at_table.board, offset=point)
        await at_table.pilot.hover(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.mouse_up(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.click(at_table.board, offset=point)
        await at_table.settled()
        assert at_table.seat.asked == []
        assert at_table.message == FACE_DOWN


RACING = state_after(first=snapshot("y4 a3 r2", board(), table()))


async def test_every_key_click_and_scroll_is_a_sign_of_activity_also_under_the_help() -> None:
    async with table_player(RACING, position=opening()) as at_table:
        before = at_table.seat.inputs
        await at_table.press("8")
        await at_table.pilot.click(offset=(1, 1))
        assert at_table.seat.inputs == before + 2
        await at_table.press("?", "down")
        assert at_table.seat.inputs == before + 4
        page = at_table.app.screen.query_one(ScrollPage)
        at_table.app.post_message(
            MouseScrollDown(page, 5, 5, 0, 1, 0, False, False, False, screen_x=5, screen_y=5)
        )
        await at_table.settled()
        assert at_table.seat.inputs == before + 5
