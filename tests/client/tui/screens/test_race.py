"""The race screen with keys and mouse: every input gets an answer, and the board is right."""

from textual.events import MouseScrollDown

from kit.screens import race, table_player
from kit.session_states import START, board, opening, snapshot, state_after, table
from saratoga_client.tui.widgets import ScrollPage


async def test_the_clock_warns_before_the_cap() -> None:
    async with race() as at_table:
        assert at_table.rows[0].endswith("8:55")
        calm = {style for _, style in at_table.cells[0]}
        at_table.seat.time = START + 580_000
        at_table.screen.tick()
        await at_table.settled()
        assert at_table.rows[0].endswith("0:20")
        assert {style for _, style in at_table.cells[0]} != calm


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
