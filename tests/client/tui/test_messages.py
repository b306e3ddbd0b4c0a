"""News of the table reach the message line of the screen that the player reads."""

from dataclasses import replace

import pytest

from kit.screens import last_racer, race, table_player
from kit.session_states import START, board, outcome, seat, snapshot, standings, state_after, table
from saratoga_client.net.errors import LinkState
from saratoga_client.tui.messages import QUIET, SHOWN
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_protocol import events

GATHERING = state_after(first=snapshot(shown=table("ya", phase="gathering")))


def changed(phase: str, version: int = 2, **more: object) -> events.TableChanged:
    return events.TableChanged(table=table(phase=phase, version=version, **more), now=START)  # type: ignore[arg-type]


async def test_a_watcher_who_reads_the_help_is_told_the_end_without_a_result() -> None:
    before = state_after(first=snapshot("a9 =r9", shown=table("ar", host="a")))
    async with table_player(before) as at_table:
        await at_table.press("?")
        await at_table.receive(events.RaceOver(outcome=outcome("a9 =r9")))
        assert at_table.message == "The race is over. q shows the results."


async def test_a_reader_is_told_that_the_connection_is_lost_and_back_and_a_race_is_open() -> None:
    async with table_player(state_after(first=snapshot("a9 y4", shown=table("ya")))) as at_table:
        await at_table.press("?")
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.settled()
        assert at_table.message == "Connection lost; trying again."
        at_table.seat.link(LinkState.CONNECTED)
        await at_table.settled()
        assert at_table.message == "Connected again."
        await at_table.receive(changed("over"), changed("gathering", 3, race="mint-otter-42/2"))
        assert at_table.message == "The table is open for the next race: q goes there."


async def test_changed_seats_are_for_the_panel_while_a_race_runs() -> None:
    async with race() as at_table:
        await at_table.press("?")
        shown = [seat("y"), seat("a", connected=False), seat("r")]
        await at_table.receive(changed("running", seats=shown))
        assert at_table.message == ""
        await at_table.press("q")
        assert "lost the" in at_table.text


@pytest.mark.parametrize("keys", ["", "?"])
async def test_a_host_is_warned_on_every_screen_until_the_next_key(keys: str) -> None:
    async with table_player(GATHERING) as at_table:
        await at_table.press(*keys)
        await at_table.change_to(replace(at_table.flow.state, idle_left=60))
        assert "Any key keeps you host" in at_table.text
        await at_table.change_to(replace(at_table.flow.state, idle_left=0))
        assert "Any key keeps" not in at_table.text


async def test_the_most_important_of_several_news_is_shown_for_a_while() -> None:
    async with race(shorthand="a51 y9 r1") as at_table:
        at_table.screen.say("")
        await at_table.receive(standings("y53 a52:won r1"))
        assert at_table.message == "ana broke the bank with 52."
        at_table.seat.time += SHOWN
        at_table.flow.tell()
        await at_table.settled()
        assert at_table.message == ""


async def test_old_news_are_not_shown_after_a_lost_connection() -> None:
    async with race(shorthand="a5 y4 r1") as at_table:
        for link in (LinkState.RECONNECTING, LinkState.CONNECTED):
            at_table.seat.link(link)
            await at_table.settled()
        at_table.screen.say("")
        await at_table.receive(standings("y6 a5 r1"))
        assert at_table.message == ""
        at_table.seat.time += QUIET + 4_000
        await at_table.receive(standings("a7 y6 r1"))
        assert at_table.message == "ana takes the lead with 7."


async def test_a_refused_move_and_the_last_board_are_said_at_once() -> None:
    async with race() as at_table:
        own = at_table.seat.own
        await at_table.change_to(
            replace(at_table.flow.state, own=replace(own, taken_back="Not that one."))
        )
        assert at_table.message == "Not that one."
        await at_table.receive(last_racer("y", host="a"))
        assert at_table.message.startswith("Only you are still racing; ana can end the race")


async def test_an_announcement_of_the_countdown_is_said_again_in_the_race() -> None:
    async with table_player(state_after(first=snapshot(shown=table(phase="countdown")))) as there:
        await there.receive(events.Announcement(text="A break at ten."))
        there.seat.change_to(replace(there.flow.state, own=state_after().own))
        await there.receive(events.BoardChanged(board=board(), start_at=START, now=START))
        await there.receive(changed("running"))
        assert isinstance(there.screen, RaceScreen)
        assert there.message == "A break at ten."
