"""The review of the own board while others still race."""

from kit.session_states import (
    START,
    board,
    opening,
    outcome,
    snapshot,
    standings,
    state_after,
    table,
)
from kit.table_screens import TablePlayer, table_player
from saratoga_client.tui.screens.own_review import OwnReviewScreen
from saratoga_client.tui.screens.results import ResultsScreen
from saratoga_protocol import events
from saratoga_rules.games import GAMES
from saratoga_rules.judge import play
from saratoga_rules.moves import DRAW


async def end_board(at_table: TablePlayer) -> None:
    """Draw once, then cash out; the others race on."""
    await at_table.press("space")
    at_table.seat.confirm()
    after = play(GAMES["canfield"], opening(), DRAW)
    last = events.BoardEnded(board=board(after, 2, "cashed out"), at=65_000, number=9)
    await at_table.receive(last)


async def test_a_racer_whose_board_has_ended_steps_through_the_own_moves_at_once() -> None:
    async with table_player(state_after(), position=opening()) as at_table:
        await at_table.press("v")
        assert not isinstance(at_table.app.screen, OwnReviewScreen)
        await end_board(at_table)
        assert "v review your moves" in at_table.rows[-1]
        await at_table.press("v")
        assert isinstance(at_table.app.screen, OwnReviewScreen)
        assert "0/2" in at_table.rows[0]
        await at_table.press("right")
        assert "1/2" in at_table.rows[0]
        await at_table.press("end")
        assert "Cashed out" in at_table.text
        await at_table.press("w")
        assert "A pause of" in at_table.text


async def test_after_a_start_in_mid_race_it_says_from_when_on_it_has_moves() -> None:
    position = play(GAMES["canfield"], opening(), DRAW)
    late = snapshot("y1 =a1 =r1", board(position, count=1), now=START + 48_000)
    async with table_player(state_after(first=late), position=position) as at_table:
        ended = board(position, 2, "cashed out")
        await at_table.receive(events.BoardEnded(board=ended, at=60_000, number=9))
        await at_table.press("v")
        since = "from 0:48 on, when you came back."
        assert f"Your moves {since} All boards open after the race." in at_table.text
        await at_table.press("end", "home")
        assert f"Your board {since}" in at_table.text
        assert "0:48.0 of 1:00" in at_table.rows[0]
        assert "The deal" not in at_table.text


async def test_an_ending_that_the_program_did_not_see_has_no_time() -> None:
    late = snapshot("y1 =a1 =r1", board(count=2, state="cashed out"), now=START + 48_000)
    async with table_player(state_after(first=late)) as at_table:
        await at_table.press("v", "end")
        assert "Cashed out before 0:48.0." in at_table.text


async def test_the_keys_of_the_open_review_name_no_hidden_card_and_show_no_rival() -> None:
    async with table_player(state_after(), position=opening()) as at_table:
        await end_board(at_table)
        await at_table.press("v")
        for key in ("o", "tab", "d", "b", "x", "s", "y", "2"):
            await at_table.press(key)
            assert isinstance(at_table.app.screen, OwnReviewScreen)
            assert "does nothing here" in at_table.text
            assert "FROM THE TOP" not in at_table.text


async def test_the_reader_stays_when_the_race_is_over_and_is_told() -> None:
    async with table_player(state_after(), position=opening()) as at_table:
        await end_board(at_table)
        await at_table.press("v")
        await at_table.receive(standings("a9 y1 r1:stuck"))
        review = at_table.app.screen
        assert isinstance(review, OwnReviewScreen)
        review.tick()
        await at_table.settled()
        assert " 2 you" in at_table.text
        lines = review.shown.live
        assert [line.climb.final for line in lines] == [9, 1, 1]
        over = events.TableChanged(table=table(phase="over", version=5), now=START)
        await at_table.receive(events.RaceOver(outcome=outcome("a9 y1:cashed_out r1:stuck")), over)
        assert isinstance(at_table.app.screen, OwnReviewScreen)
        assert "The race is over. You finished 2nd" in at_table.text
        await at_table.press("q")
        assert isinstance(at_table.app.screen, ResultsScreen)


async def test_its_help_names_only_keys_that_work_here() -> None:
    async with table_player(state_after(), position=opening(), size=(120, 40)) as at_table:
        await end_board(at_table)
        await at_table.press("v", "?")
        assert "the longest pause" in at_table.text
        assert "next racer" not in at_table.text
        assert "practise this deal" not in at_table.text
