"""The texts around the board in practice and replay, and golden pictures of whole screens."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.solo_player import FOLDER, PICTURES, StoppedClock, before, finished, picture
from saratoga_client.board_view.symbols import LETTERS
from saratoga_client.input.move_text import LINE, ascii_card_name, card_name, has_pile, turned_up
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.ghost import Ghost
from saratoga_client.practice.practice_session import PracticeSession
from saratoga_client.review.boards import open_boards
from saratoga_client.review.chart import Climb
from saratoga_client.review.divergence import first_divergence, longest_pauses
from saratoga_client.review.replay import Replay, replay_of
from saratoga_client.tui.game_screen import GameScreen
from saratoga_client.tui.screens.practice import (
    PracticeScreen,
    practice_panel,
    practice_ticker,
    practice_title,
)
from saratoga_client.tui.screens.replay import (
    ReplayState,
    divergence_text,
    face_down_columns,
    hidden_cards,
    last_move_text,
    next_move_text,
    pause_text,
    replay_panel,
    replay_ticker,
    replay_title,
)
from saratoga_client.tui.screens.review import ReviewScreen
from saratoga_rules.games import GAMES
from saratoga_rules.moves import RESERVE

GHOST = Ghost("your run, 9 banked in 3:00", Climb(1, ((10_000, 4), (180_000, 9)), 180_000))


def session_at(second: int, ghost: Ghost | None = GHOST, seed: str = "7") -> PracticeSession:
    """Return practice of a deal, so many seconds after it was shown."""
    clock = StoppedClock()
    session = PracticeSession(from_seed(GAMES["canfield"], seed), seconds=clock)
    clock.at, session.ghost = second, ghost
    return session


@pytest.mark.parametrize("name", PICTURES)
async def test_screens_look_as_they_were_approved(name: str) -> None:
    assert await picture(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_the_ghosts_count_is_that_of_the_same_moment() -> None:
    text = " ".join(practice_panel(session_at(61), LETTERS, 24, 21).text().split())
    assert "now 4, you 1" in text
    assert "3 cards behind the ghost" in text
    assert "stopped" not in text
    assert "stopped at 3:00" in practice_panel(session_at(181), LETTERS, 24, 21).text()
    assert "behind the ghost" in practice_ticker(session_at(61), 60).text()


def test_where_there_is_little_room_whole_sections_go_first() -> None:
    text = practice_panel(session_at(61), LETTERS, 24, 12).text()
    assert "GHOST" not in text
    assert "moves 0" in text


def test_the_title_drops_facts_rather_than_cut_the_clock() -> None:
    for width in range(24, 90):
        line = practice_title(session_at(61, seed="x" * 40), width).text()
        assert line.startswith(" PRACTICE")
        assert line.endswith("1:01")


@cache
def replayed(name: str = "lafayette") -> Replay:
    return replay_of(finished(name))


@pytest.mark.parametrize("name", GAMES)
@given(
    width=st.integers(1, 130), height=st.integers(1, 45), moment=st.integers(0, 200_000),
    is_open=st.booleans(),
)  # fmt: skip
def test_the_panel_draws_something_in_any_size(
    name: str, width: int, height: int, moment: int, is_open: bool
) -> None:
    seen = ReplayState(replay=replayed(name).at(moment), is_open=is_open)
    canvas = replay_panel(seen, LETTERS, ascii_card_name, width, height)
    assert canvas.text().strip() or width < 4


@pytest.mark.parametrize("height", range(12, 30))
def test_the_panel_names_every_hidden_card_or_says_how_many_more_there_are(height: int) -> None:
    opened = ReplayState(replay=replayed("klondike"), is_open=True)
    text = replay_panel(opened, LETTERS, ascii_card_name, 24, height).text()
    stock = text.partition("STOCK, FROM THE TOP")[2].split()
    if "more" in stock:
        assert len(stock) - 3 + int(stock[-2]) == 24
    elif stock:
        assert len(stock) == 24


@pytest.mark.parametrize("name", GAMES)
def test_a_bots_short_name_is_whole_where_counts_have_two_digits(name: str) -> None:
    replay = replayed(name)
    boards = tuple(replace(board, name="Thea", bot=True) for board in replay.boards)
    seen = ReplayState(replay=replace(replay, boards=boards))
    rows = replay_panel(seen, LETTERS, ascii_card_name, 24, 21).text().splitlines()
    assert all(len(row) <= 24 for row in rows)
    assert ("Thea [bot]" in rows[1]) is (GAMES[name].cards < 100)


def test_of_many_racers_those_around_the_shown_one_are_listed() -> None:
    replay = replayed()
    seen = ReplayState(replay=replay.of(2))
    rows = replay_panel(seen, LETTERS, ascii_card_name, 24, 3).text().splitlines()
    assert any(row.startswith("> 3 Otto") for row in rows)


def test_the_ticker_begins_with_the_shown_board_and_cuts_no_text() -> None:
    seen = ReplayState(replay=replayed().at_end().of(1))
    line = replay_ticker(seen, 60).text()
    assert line.split("  ")[0].strip().startswith("2. Zoë [bot] ")
    assert "1. Anna 11" in line
    assert replay_ticker(seen, 20).text().strip().startswith("2. Zoë [bot]")
    assert "Otto" not in replay_ticker(seen, 30).text()


def test_the_level_of_a_bot_stands_beside_its_name() -> None:
    record = finished("lafayette")
    bot = next(racer for racer in record.racers if racer.bot)
    replay = replay_of(record, bot.player, {bot.player: "weak"})
    marked = f"{bot.name} [weak bot]"
    seen = ReplayState(replay=replay)
    assert marked in replay_title(seen, 80).text()
    panel = replay_panel(seen, LETTERS, ascii_card_name, 40, 21)
    assert marked in panel.text()


every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@given(step=st.integers(0, 70), index=st.integers(0, 2))
def test_every_step_fits_a_line_and_equals_the_next_move_before_it(
    name: str, step: int, index: int
) -> None:
    before = replayed(name).of(index).stepped(step)
    after = before.stepped(1)
    assert 0 < len(last_move_text(after, card_name)) <= LINE
    if after.step != before.step and after.entry is not None and after.entry.is_move:
        assert next_move_text(before, card_name) in last_move_text(after, card_name)


@every_game
def test_differences_and_pauses_fit_a_line(name: str) -> None:
    for index in range(3):
        replay = replayed(name).of(index)
        divergence = first_divergence(replay.game, replay.board, replay.rival)
        assert divergence is not None
        assert len(divergence_text(replay, divergence)) <= LINE
        for pause in longest_pauses(replay.board):
            assert len(pause_text(pause)) <= LINE


def test_the_last_entry_is_named_by_its_ending() -> None:
    end = replayed().at_end()
    assert last_move_text(end, card_name).startswith("Cashed out at ")
    assert next_move_text(end, card_name) == "nothing: the board has ended"
    assert next_move_text(end.stepped(-1), card_name) == "cashed out"


@every_game
def test_hidden_cards_are_listed_in_the_order_of_turning_up(name: str) -> None:
    game, deal = GAMES[name], finished(name).opening
    *reserves, (_, stock) = hidden_cards(game, deal)
    assert stock == deal.stock
    assert [cards for _, cards in reserves] == [deal.reserve[-2::-1]] * has_pile(game, RESERVE)
    assert [cards for _, cards in face_down_columns(deal)] == [
        cards[::-1] for cards in deal.face_down if cards
    ]


def test_the_last_move_names_the_card_that_it_turned_up() -> None:
    record = finished("klondike")
    replay, board = replay_of(record), open_boards(record)[0]
    step = next(
        step
        for step in range(1, len(board.positions))
        if turned_up(board.view(step - 1), board.view(step)) is not None
    )
    card = turned_up(board.view(step - 1), board.view(step))
    assert card is not None
    assert f"; {card_name(card)} turns up" in last_move_text(replay.stepped(step), card_name)
    assert "turns up" not in last_move_text(replay.stepped(step - 1), card_name)


@pytest.mark.parametrize(
    "opened",
    [lambda: PracticeScreen(from_seed(GAMES["canfield"], "7")), lambda: ReviewScreen(finished())],
    ids=["practice", "replay"],
)
async def test_every_key_of_a_screen_does_something(opened: Callable[[], GameScreen]) -> None:
    screen = opened()
    async with before(screen) as player:
        table = screen.keys()
        names = [name for key in table for name in key.names.split() if key.help]
        assert len(set(names)) == len(names), "no key is there twice"
        for key in names:
            if key == "q":
                continue
            said = await player.press(key)
            assert "does nothing" not in said, key
            if not player.sees(screen):
                await player.press("q")
            elif key == "/":
                await player.press("escape")
            assert player.sees(screen), key
