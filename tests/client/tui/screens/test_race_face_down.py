"""The race screen in a game with face-down cards in its columns."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kit.positions import draw
from kit.session_states import board, snapshot, state_after, table
from kit.table_screens import TablePlayer, table_player
from saratoga_client.input.mouse import FACE_DOWN
from saratoga_rules.games import GAMES

POSITION = draw(GAMES["klondike"], "t1: 2C | 9H\nt2: 3D | TC\nt3: 8S")
"""A position in which 9H goes on TC and turns up 2C."""


@asynccontextmanager
async def race() -> AsyncIterator[TablePlayer]:
    shown = table(game="klondike")
    first = state_after(first=snapshot("y4 a3 r2", board(POSITION, game="klondike"), shown))
    async with table_player(first, position=POSITION) as at_table:
        yield at_table


def said(at_table: TablePlayer) -> str:
    """Return the message line of an 80x24 screen; the message must fit on one line."""
    return at_table.rows[-2].strip()


async def test_a_card_turns_up_with_the_answer_and_is_named() -> None:
    async with race() as at_table:
        await at_table.press("1", "2")
        assert at_table.seat.asked == ["t1>t2"]
        assert said(at_table) == "9♥ from column 1 to column 2."
        assert "9♥" in at_table.board_column("t1")
        at_table.seat.confirm()
        await at_table.settled()
        assert said(at_table) == "9♥ from column 1 to column 2; 2♣ turns up."
        assert "2♣" in at_table.board_column("t1")
        assert "░" not in at_table.board_column("t1")


async def test_a_key_waits_until_the_card_has_turned_up() -> None:
    async with race() as at_table:
        await at_table.press("1", "2", "3")
        assert said(at_table) == "9♥ from column 1 to column 2."
        at_table.seat.confirm()
        await at_table.settled()
        assert said(at_table).startswith("8♠ from column 3")


async def test_a_face_down_card_cannot_be_lifted_and_a_click_on_it_says_why() -> None:
    async with race() as at_table:
        point = at_table.point("t1", -1)
        await at_table.pilot.mouse_down(at_table.board, offset=point)
        await at_table.pilot.hover(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.mouse_up(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.click(at_table.board, offset=point)
        await at_table.settled()
        assert at_table.seat.asked == []
        assert said(at_table) == FACE_DOWN
