"""Questions on the race screen: any key closes them, and nothing that happens covers them."""

import pytest

from kit.table_screens import last_racer, race, said
from saratoga_client.net.connection import LinkState


async def test_cash_out_asks_first_and_says_what_it_means() -> None:
    async with race() as at_table:
        await at_table.press("x")
        assert said(at_table) == "Cash out with 4 banked, net -$30? Your race ends. (y/n)"
        assert at_table.rows[-1].strip() == "y cash out  any other key no"
        await at_table.press("y")
        assert at_table.seat.asked == ["cash out"]


@pytest.mark.parametrize("key", ["escape", "n", "x", "1", "space", "q", "?"])
async def test_any_other_key_drops_the_question(key: str) -> None:
    async with race() as at_table:
        await at_table.press("x", key)
        at_table.app.screen.set_focus(None)
        await at_table.press("escape", "y")
        assert "cash out" not in at_table.seat.asked


async def test_a_click_drops_the_question_too() -> None:
    async with race() as at_table:
        await at_table.press("x")
        await at_table.pilot.click(at_table.board, offset=at_table.point("t3"))
        await at_table.press("y")
        assert "cash out" not in at_table.seat.asked


async def test_nothing_that_happens_covers_the_question_about_cashing_out() -> None:
    async with race() as at_table:
        await at_table.press("x")
        question = said(at_table)
        await at_table.receive(last_racer("y", host="a"))
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.settled()
        assert said(at_table) == question
        assert at_table.rows[-1].strip() == "y cash out  any other key no"
        await at_table.press("n")
        assert said(at_table) == "Connection lost; trying again. Your score is safe."


async def test_an_answered_question_is_not_followed_by_older_news() -> None:
    async with race() as at_table:
        await at_table.press("x")
        await at_table.receive(last_racer("y", host="a"))
        await at_table.press("y")
        assert at_table.seat.asked == ["cash out"]
        assert said(at_table) == "Cashing out."


async def test_the_end_of_the_board_closes_the_question_about_cashing_out() -> None:
    async with race() as at_table:
        await at_table.press("x")
        at_table.seat.confirm("out of time")
        await at_table.settled()
        assert "Time is up: 4 banked" in at_table.text
        await at_table.press("y")
        assert "cash out" not in at_table.seat.asked


async def test_leaving_in_a_race_asks_and_says_what_it_means() -> None:
    async with race() as at_table:
        await at_table.press("q")
        assert "Your race ends with 4 banked" in at_table.text
        await at_table.press("y")
        assert at_table.seat.asked == ["leave"]
