"""The race screen with keys and mouse: every input gets an answer, and the board is right."""

import pytest

from kit.session_states import START, standings
from kit.table_screens import last_racer, race, said
from saratoga_client.net.connection import LinkState


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


async def test_the_panel_is_hidden_and_comes_back() -> None:
    async with race() as at_table:
        await at_table.press("p")
        assert "RACE" not in at_table.text
        await at_table.press("p")
        assert "RACE" in at_table.text


async def test_suits_and_themes_are_changed_and_remembered() -> None:
    async with race() as at_table:
        before = at_table.cells
        await at_table.press("c")
        assert said(at_table) == "The suits have four colours now."
        assert at_table.cells[1:-2] != before[1:-2]
        await at_table.press("t")
        assert said(at_table).startswith("Colours: ")


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
        ("cashed out", "Cashed out: 4 banked, net -$30."),
        ("out of time", "Time is up: 4 banked, net -$30. All of it counts."),
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
        at_table.seat.confirm("ended by host")
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
