"""Moments of a race on the message line: they never cover a question, a refusal or an ending."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from kit.session_states import CAP, START, snapshot, standings, state_after, table
from kit.table_screens import TablePlayer, race, said, table_player
from saratoga_client.net.link_state import LinkState
from saratoga_client.session.moments import LAST_MINUTE
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.screens.watching import WatchingScreen
from saratoga_client.tui.table_screen import MOMENT_SHOWN, MOMENT_WAITS, TableScreen

LEAD = "You take the lead with 5."


@asynccontextmanager
async def race_after_a_move() -> AsyncIterator[TablePlayer]:
    """Open a race in which one move has been played, so that its description is the message."""
    async with race(shorthand="a4 y3 r1") as at_table:
        await tick(at_table)
        await at_table.press("1", "2")
        assert said(at_table) == "Q♠ from column 1 to column 2."
        at_table.seat.confirm()
        yield at_table


async def tick(at_table: TablePlayer, millis: int = 0) -> None:
    """Let the server's clock advance, and the screen look at it."""
    at_table.seat.time += millis
    assert isinstance(at_table.screen, TableScreen)
    at_table.screen.tick()
    await at_table.settled()


async def take_the_lead(at_table: TablePlayer) -> None:
    await at_table.receive(standings("y5 a4 r1"))
    await tick(at_table)


async def test_a_moment_is_shown_after_a_move_and_goes_by_itself() -> None:
    async with race_after_a_move() as at_table:
        await take_the_lead(at_table)
        assert said(at_table) == LEAD
        await tick(at_table, MOMENT_SHOWN - 1)
        assert said(at_table) == LEAD
        await tick(at_table, 1)
        assert said(at_table) == ""


async def test_a_moment_may_cover_a_move_that_waited_for_the_connection() -> None:
    async with race() as at_table:
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.press("space")
        assert said(at_table) == (
            "This move waits for the connection: 3 cards from the stock to the waste."
        )
        assert isinstance(at_table.screen, RaceScreen)
        assert at_table.screen.may_cover_message()


async def test_the_next_message_replaces_a_moment_and_stays() -> None:
    async with race_after_a_move() as at_table:
        await take_the_lead(at_table)
        await at_table.press("9")
        refusal = said(at_table)
        assert refusal != LEAD
        await tick(at_table, MOMENT_SHOWN)
        assert said(at_table) == refusal


@pytest.mark.parametrize("key", ["x", "9", "1"])
async def test_a_moment_waits_for_a_question_a_refusal_or_a_picked_card(key: str) -> None:
    async with race_after_a_move() as at_table:
        await at_table.press(key)
        covered = said(at_table)
        await take_the_lead(at_table)
        assert said(at_table) == covered
        await tick(at_table, MOMENT_WAITS)
        await at_table.press("escape")
        await tick(at_table)
        assert LEAD not in at_table.rows[-2], "it came too late"


async def test_a_moment_is_shown_when_the_question_is_answered_in_time() -> None:
    async with race_after_a_move() as at_table:
        await at_table.press("slash")
        await take_the_lead(at_table)
        assert said(at_table) != LEAD
        await at_table.press("escape")
        at_table.screen.say("")
        await tick(at_table)
        assert said(at_table) == LEAD


async def test_the_message_on_the_end_of_the_board_is_not_covered() -> None:
    async with race_after_a_move() as at_table:
        at_table.seat.confirm("stuck")
        await at_table.settled()
        assert isinstance(at_table.screen, RaceScreen)
        assert at_table.screen.message.startswith("Stuck")
        await at_table.receive(standings("r6 a5 y3:stuck"))
        await tick(at_table)
        assert at_table.screen.message.startswith("Stuck")


async def test_the_last_minute_rings_the_bell_once_and_other_moments_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with race_after_a_move() as at_table:
        bells: list[int] = []
        monkeypatch.setattr(at_table.app, "bell", lambda: bells.append(1))
        await take_the_lead(at_table)
        assert bells == []
        await tick(at_table, START + CAP - LAST_MINUTE - at_table.seat.time)
        assert said(at_table) == "The last minute."
        await tick(at_table, 250)
        assert len(bells) == 1


async def test_the_last_minute_rings_the_bell_under_an_open_question_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with race_after_a_move() as at_table:
        bells: list[int] = []
        monkeypatch.setattr(at_table.app, "bell", lambda: bells.append(1))
        await at_table.press("x")
        question = said(at_table)
        await tick(at_table, START + CAP - LAST_MINUTE - at_table.seat.time)
        assert (said(at_table), len(bells)) == (question, 1)


async def test_a_watcher_sees_a_moment_in_place_of_the_greeting_and_then_the_greeting() -> None:
    first = state_after(first=snapshot("a4 r1", shown=table("ar", host="a")))
    async with table_player(first) as at_table:
        assert isinstance(at_table.screen, WatchingScreen)
        await tick(at_table)
        await at_table.receive(standings("r5 a4"))
        await tick(at_table)
        assert said(at_table) == "raj takes the lead with 5."
        await tick(at_table, MOMENT_SHOWN)
        assert said(at_table) == WatchingScreen.RESTING
