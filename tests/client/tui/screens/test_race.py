"""The race screen with keys and mouse: every input gets an answer, and the board is right."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from textual.events import MouseScrollDown

from kit.positions import draw
from kit.session_states import CAP, START, board, opening, snapshot, standings, state_after, table
from kit.table_screens import TablePlayer, last_racer, race, said, table_player
from saratoga_client.input.mouse import FACE_DOWN
from saratoga_client.net.connection import LinkState
from saratoga_client.session.moments import LAST_MINUTE
from saratoga_client.tui.rich_view import ScrollPage
from saratoga_client.tui.screens.race import RaceScreen
from saratoga_client.tui.screens.watching import WatchingScreen
from saratoga_client.tui.table_screen import MOMENT_SHOWN, MOMENT_WAITS, TableScreen
from saratoga_rules.games import GAMES


async def test_two_keys_play_a_move_that_is_shown_at_once() -> None:
    async with race() as at_table:
        await at_table.press("1")
        assert said(at_table).startswith("Q♠ from column 1:")
        assert "esc drop" in at_table.rows[-1]
        await at_table.press("2")
        assert at_table.seat.asked == ["t1>t2"]
        assert said(at_table) == "Q♠ from column 1 to column 2."
        # the server has not answered, and the card is shown at its target
        assert at_table.seat.own.in_flight
        assert "Q♠" in at_table.board_column("t2")
        at_table.seat.confirm()
        await at_table.settled()
        assert "Q♠" in at_table.board_column("t2")


async def test_the_same_key_twice_banks() -> None:
    async with race() as at_table:
        await at_table.press("w", "w")
        assert at_table.seat.asked == ["w>up"]
        assert "banked 5/52" in at_table.text
        assert "net   -$25" in at_table.text


async def test_keys_without_effect_say_so() -> None:
    async with race() as at_table:
        await at_table.press("r")
        assert said(at_table) == "4♥, the reserve: no place to go now."
        await at_table.press("0")
        assert said(at_table).startswith("'0' does nothing here:")
        assert at_table.seat.asked == []


async def test_keys_pressed_while_a_card_is_turned_up_are_kept_and_played_in_order() -> None:
    async with race() as at_table:
        await at_table.press("space", "1", "2")
        assert at_table.seat.asked == ["draw"]
        at_table.seat.confirm()
        await at_table.settled()
        assert at_table.seat.asked == ["draw", "t1>t2"]


async def test_only_sixteen_keys_are_queued() -> None:
    async with race() as at_table:
        await at_table.press("space")
        for _ in range(17):
            at_table.screen.handle("escape")
        await at_table.settled()
        assert said(at_table) == "The server has not answered yet; that key was ignored."


async def test_a_refused_move_is_taken_back_with_the_reason() -> None:
    async with race() as at_table:
        await at_table.press("1", "2")
        at_table.seat.refuse("the cards lie otherwise there.")
        await at_table.settled()
        reason = "the cards lie otherwise there."
        assert said(at_table) == f"Column 1 to column 2 was taken back: {reason}"
        assert "Q♠" in at_table.board_column("t1")
        assert "Q♠" not in at_table.board_column("t2")


async def test_queued_keys_are_dropped_when_a_move_is_refused() -> None:
    async with race() as at_table:
        await at_table.press("space", "1", "2")
        at_table.seat.refuse("no.")
        await at_table.settled()
        assert at_table.seat.asked == ["draw"]


async def test_tab_steps_through_the_moves_and_enter_plays_the_chosen_one() -> None:
    async with race() as at_table:
        await at_table.press("tab")
        assert said(at_table).startswith("1 of ")
        assert "enter play" in at_table.rows[-1]
        await at_table.press("tab", "shift+tab", "enter")
        assert at_table.seat.asked == ["w>up"]


async def test_a_click_plays_the_only_move() -> None:
    async with race() as at_table:
        await at_table.pilot.click(at_table.board, offset=at_table.point("t1"))
        await at_table.settled()
        assert at_table.seat.asked == ["t1>t2"]


@pytest.mark.parametrize(("button", "times"), [(3, 1), (1, 2)])
async def test_double_and_right_clicks_bank(button: int, times: int) -> None:
    async with race() as at_table:
        point = at_table.point("w")
        await at_table.pilot.click(at_table.board, offset=point, button=button, times=times)
        await at_table.settled()
        assert at_table.seat.asked == ["w>up"]


async def test_a_click_on_the_stock_draws_and_clicks_wait_for_the_card() -> None:
    async with race() as at_table:
        await at_table.pilot.click(at_table.board, offset=at_table.point("stock"))
        await at_table.pilot.click(at_table.board, offset=at_table.point("t1"))
        await at_table.settled()
        assert at_table.seat.asked == ["draw"]
        assert said(at_table) == "A card is being turned up: click again in a moment."
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.pilot.click(at_table.board, offset=at_table.point("t4"))
        await at_table.settled()
        assert said(at_table) == ("Your last move waits for the connection, and turns a card up.")


async def test_cards_are_dragged_and_dropped() -> None:
    async with race() as at_table:
        await at_table.pilot.mouse_down(at_table.board, offset=at_table.point("t1"))
        await at_table.pilot.hover(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.mouse_up(at_table.board, offset=at_table.point("t2"))
        await at_table.settled()
        assert at_table.seat.asked == ["t1>t2"]


async def test_a_refused_drop_gives_the_reason() -> None:
    async with race() as at_table:
        await at_table.pilot.mouse_down(at_table.board, offset=at_table.point("t4"))
        await at_table.pilot.hover(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.mouse_up(at_table.board, offset=at_table.point("t2"))
        await at_table.settled()
        assert at_table.seat.asked == []
        assert said(at_table).startswith("6♣ to column 2:")


async def test_the_search_highlights_cards_and_gives_the_keys_back() -> None:
    async with race() as at_table:
        await at_table.press("/", "q")
        assert "in column 1" in said(at_table)
        assert "enter keep" in at_table.rows[-1]
        assert "help" not in at_table.rows[-1]
        assert "leave" not in at_table.rows[-1]
        await at_table.press("enter", "1", "2")
        assert at_table.seat.asked == ["t1>t2"]


async def test_quick_mode_plays_at_the_first_key() -> None:
    async with race() as at_table:
        await at_table.press("o", "1")
        assert at_table.seat.asked == ["t1>t2"]


async def test_the_message_line_reports_a_lost_and_restored_connection() -> None:
    async with race() as at_table:
        at_table.seat.link(LinkState.RECONNECTING)
        await at_table.settled()
        assert said(at_table) == "Connection lost; trying again. Your score is safe."
        assert "○ reconnecting" in at_table.rows[0]
        await at_table.press("1", "2")
        assert at_table.seat.own.in_flight, "moves wait for the connection"
        assert said(at_table).startswith("This move waits for the connection")
        at_table.seat.link(LinkState.CONNECTED)
        await at_table.settled()
        assert said(at_table) == "Connected again; nothing is lost."
        assert "○" not in at_table.rows[0]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("stuck", "Stuck: nothing more can be banked. Your board is over: 4 banked, net -$30."),
        ("cash-out", "Cashed out: 4 banked, net -$30."),
        ("out-of-time", "Time is up: 4 banked, net -$30. All of it counts."),
    ],
)
async def test_the_end_of_the_board_gives_the_result_and_who_still_races(
    state: str, words: str
) -> None:
    async with race() as at_table:
        at_table.seat.confirm(state)
        await at_table.settled()
        message = " ".join(row.strip() for row in at_table.rows[-3:-1] if "net   " not in row)
        assert message.endswith(f"{words} ana and raj are still racing.")
        await at_table.receive(standings("y4:stuck a3 r2:stuck"))
        message = " ".join(row.strip() for row in at_table.rows[-3:-1])
        assert message.endswith(f"{words} ana is still racing.")
        await at_table.press("1", "x")
        assert at_table.seat.asked == []


async def test_the_host_ends_a_race_that_one_player_holds_up() -> None:
    async with race() as at_table:
        await at_table.press("e")
        at_table.seat.confirm("stuck")
        await at_table.press("e")
        assert said(at_table) == "The host can end a race when one other player is left."
        await at_table.receive(last_racer("a"))
        assert "e end race" in at_table.rows[-1]
        await at_table.press("e")
        assert said(at_table) == "Only ana is still racing; you can end the race in 5 s."
        at_table.seat.time += 5_000
        await at_table.press("e")
        assert said(at_table) == "End the race of ana, who keeps the banked cards? (y/n)"
        assert at_table.seat.asked == []
        await at_table.press("y")
        assert at_table.seat.asked == ["end race"]


async def test_the_last_racer_is_warned_and_told_who_ended_the_race() -> None:
    async with race() as at_table:
        await at_table.receive(last_racer("y", host="a"))
        assert said(at_table) == "Only you are still racing; ana can end the race in 5 s."
        assert "ana can end" in at_table.text.replace(said(at_table), "")
        at_table.seat.confirm("ended-by-host")
        await at_table.settled()
        assert "ana has ended the race: 4 banked, net -$30." in at_table.text


async def test_the_clock_warns_before_the_cap() -> None:
    async with race() as at_table:
        assert at_table.rows[0].endswith("8:55 ")
        before = at_table.cells[0][-2]
        at_table.seat.time = START + 580_000
        at_table.screen.tick()
        await at_table.settled()
        assert at_table.rows[0].endswith("0:20 ")
        assert at_table.cells[0][-2][1] != before[1]


@pytest.mark.parametrize("size", [(53, 24), (80, 17), (30, 10)])
async def test_a_too_small_screen_says_which_size_is_needed(size: tuple[int, int]) -> None:
    async with race() as at_table:
        await at_table.pilot.resize_terminal(*size)
        await at_table.settled()
        message = " ".join(" ".join(at_table.rows).split())
        assert message.startswith(f"This terminal has {size[0]} x {size[1]} cells.")
        assert message.endswith("every key still works.")
        await at_table.press("1", "2")
        assert at_table.seat.asked == ["t1>t2"]
        await at_table.pilot.resize_terminal(80, 24)
        await at_table.settled()
        assert "This terminal" not in at_table.text


POSITION = draw(GAMES["klondike"], "t1: 2C | 9H\nt2: 3D | TC\nt3: 8S")
"""A position in which 9H goes on TC and turns up 2C."""


@asynccontextmanager
async def klondike_race() -> AsyncIterator[TablePlayer]:
    shown = table(game="klondike")
    first = state_after(first=snapshot("y4 a3 r2", board(POSITION, game="klondike"), shown))
    async with table_player(first, position=POSITION) as at_table:
        yield at_table


def said_in_klondike(at_table: TablePlayer) -> str:
    """Return the message line of an 80x24 screen; the message must fit on one line."""
    return at_table.rows[-2].strip()


async def test_a_card_turns_up_with_the_answer_and_is_named() -> None:
    async with klondike_race() as at_table:
        await at_table.press("1", "2")
        assert at_table.seat.asked == ["t1>t2"]
        assert said_in_klondike(at_table) == "9♥ from column 1 to column 2."
        assert "9♥" in at_table.board_column("t1")
        at_table.seat.confirm()
        await at_table.settled()
        assert said_in_klondike(at_table) == "9♥ from column 1 to column 2; 2♣ turns up."
        assert "2♣" in at_table.board_column("t1")
        assert "░" not in at_table.board_column("t1")


async def test_a_face_down_card_cannot_be_lifted_and_a_click_on_it_says_why() -> None:
    async with klondike_race() as at_table:
        point = at_table.point("t1", -1)
        await at_table.pilot.mouse_down(at_table.board, offset=point)
        await at_table.pilot.hover(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.mouse_up(at_table.board, offset=at_table.point("t2"))
        await at_table.pilot.click(at_table.board, offset=point)
        await at_table.settled()
        assert at_table.seat.asked == []
        assert said_in_klondike(at_table) == FACE_DOWN


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
        at_table.seat.confirm("out-of-time")
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
