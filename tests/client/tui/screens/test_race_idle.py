"""A racer who presses no key is warned, and every key, click and scroll counts."""

from dataclasses import replace

import pytest
from textual.events import MouseScrollDown

from kit.session_states import board, opening, snapshot, state_after, table
from kit.table_screens import table_player
from saratoga_client.tui.rich_view import ScrollPage

RACING = state_after(first=snapshot("y4 a3 r2", board(), table()))


async def test_an_idle_racer_is_warned_by_a_message_and_the_bell_until_the_next_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with table_player(RACING, position=opening()) as at_table:
        bells: list[int] = []
        monkeypatch.setattr(at_table.app, "bell", lambda: bells.append(1))
        await at_table.press("x")
        for left in (60, 15):
            at_table.seat.change_to(replace(at_table.flow.state, idle_left=left))
            await at_table.settled()
            assert at_table.rows[-2].strip() == (
                f"No key for a while. Your board ends in {left} s; press any key to go on."
            )
        assert len(bells) == 2
        await at_table.press("y")
        assert at_table.seat.asked == [], "the key answers no question under the warning"
        assert "No key for a while" not in at_table.text
        at_table.seat.confirm("idle")
        await at_table.settled()
        assert "Your board ended after 3 minutes without a key" in at_table.text
        assert "Your seat is kept." in at_table.text


async def test_a_racer_who_reads_the_help_is_warned_there_until_the_next_key() -> None:
    async with table_player(RACING, position=opening()) as at_table:
        await at_table.press("?")
        at_table.seat.change_to(replace(at_table.flow.state, idle_left=60))
        await at_table.settled()
        assert "Your board ends in 60 s; press any key to go on." in at_table.rows[-2]
        at_table.seat.change_to(replace(at_table.flow.state, idle_left=0))
        await at_table.settled()
        assert "Your board ends" not in at_table.text
        at_table.seat.confirm("idle")
        await at_table.settled()
        assert "Your board ended after 3 minutes without a key." in at_table.text


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
