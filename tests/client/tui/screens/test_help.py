"""The help over a race scrolls and closes, and its keys make no moves."""

import pytest

from kit.session_states import board, snapshot, state_after
from kit.table_screens import table_player
from saratoga_client.tui.rich_view import ScrollPage
from saratoga_client.tui.screens.help import HelpScreen
from saratoga_client.tui.screens.race import RaceScreen

RACING = state_after(first=snapshot("y1 a1 r1", board()))


@pytest.mark.parametrize("key", ["?", "escape", "q", "enter"])
async def test_the_help_opens_and_closes_and_its_keys_are_not_played(key: str) -> None:
    async with table_player(RACING) as at_table:
        await at_table.press("?")
        assert isinstance(at_table.app.screen, HelpScreen)
        assert "RULES OF CANFIELD" in at_table.text
        await at_table.press("space", "1", "x", key)
        assert [type(screen) for screen in at_table.app.screen_stack[-1:]] == [RaceScreen]
        assert at_table.seat.asked == []
        assert not at_table.screen.is_asking


async def test_scrolling_shows_every_line_of_the_help() -> None:
    async with table_player(RACING) as at_table:
        await at_table.press("?")
        seen = set(at_table.rows)
        for _ in range(50):
            await at_table.press("down")
            seen |= set(at_table.rows)
        whole = "\n".join(seen)
        assert "RULES OF CANFIELD" in whole
        assert "KEYS IN A RACE" in whole
        assert "carry cards to where you let go" in whole
        assert at_table.app.screen.query_one(ScrollPage).lines_below == 0
