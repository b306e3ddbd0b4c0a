"""The pages of practice, review and help."""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kit.screens import INK, StoppedClock, before, page_text, reviewed
from kit.session_states import finished
from saratoga_client.board_view.roles import LETTERS, symbols_for
from saratoga_client.input.move_text import LINE, ascii_card_name, card_name, turned_up
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.practice_session import Ghost, PracticeSession
from saratoga_client.review.boards import Climb, Replay, longest_pauses, open_boards, replay_of
from saratoga_client.tui.game_screen import GameScreen
from saratoga_client.tui.reading import help_page
from saratoga_client.tui.screens.practice import PracticeScreen, practice_panel, practice_ticker
from saratoga_client.tui.screens.review import (
    difference_text,
    last_entry_text,
    pause_text,
    replay_panel,
    replay_ticker,
)
from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

GHOST = Ghost("your run, 9 banked in 3:00", Climb(1, ((10_000, 4), (180_000, 9)), 180_000))


def session_at(second: int) -> PracticeSession:
    """Return practice beside a ghost, so many seconds after the deal was shown."""
    clock = StoppedClock()
    session = PracticeSession(from_seed(GAMES["canfield"], "7"), seconds=clock)
    clock.at, session.ghost = second, GHOST
    return session


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


@cache
def replayed(name: str = "lafayette") -> Replay:
    return replay_of(finished(name).race_id, open_boards(finished(name)))


def panel(replay: Replay, width: int, height: int, *, names_hidden: bool = False) -> str:
    return replay_panel(
        replay, LETTERS, ascii_card_name, width, height, names_hidden=names_hidden
    ).text()


every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@given(
    width=st.integers(1, 130), height=st.integers(1, 45), moment=st.integers(0, 200_000),
    names_hidden=st.booleans(),
)  # fmt: skip
def test_the_panel_draws_something_in_any_size(
    name: str, width: int, height: int, moment: int, names_hidden: bool
) -> None:
    replay = replayed(name).at(moment)
    assert panel(replay, width, height, names_hidden=names_hidden).strip() or width < 4


@pytest.mark.parametrize("height", range(12, 30))
def test_the_panel_names_every_hidden_card_or_says_how_many_more_there_are(height: int) -> None:
    replay = replayed("klondike")
    text = panel(replay, 24, height, names_hidden=True)
    cards = text.partition("STOCK, FROM THE TOP")[2].split()
    stock = [ascii_card_name(card) for card in replay.board.positions[0].stock]
    if "more" in cards:
        more, cards = int(cards[-2]), cards[:-3]
        assert len(cards) + more == len(stock)
    assert cards == stock[: len(cards)]


def test_the_panel_names_the_reserve_and_the_columns_in_the_order_of_turning_up() -> None:
    deal = finished("canfield").opening
    text = " ".join(panel(replayed("canfield"), 60, 45, names_hidden=True).split())
    assert " ".join(map(ascii_card_name, deal.reserve[-2::-1])) in text
    deal = finished("klondike").opening
    text = panel(replayed("klondike"), 60, 45, names_hidden=True)
    assert f"7 {' '.join(map(ascii_card_name, deal.face_down[6][::-1]))}" in text


@every_game
def test_a_bots_short_name_is_whole(name: str) -> None:
    replay = replayed(name)
    boards = tuple(replace(board, name="Thea", bot=True) for board in replay.boards)
    rows = panel(replace(replay, boards=boards), 24, 21).splitlines()
    assert all(len(row) <= 24 for row in rows)
    assert "Thea*" in rows[1]


def test_of_many_racers_those_around_the_shown_one_are_listed() -> None:
    rows = panel(replayed().of(2), 24, 3).splitlines()
    assert any(row.startswith("> 3 Otto") for row in rows)


def test_the_ticker_begins_with_the_shown_board_and_cuts_no_text() -> None:
    replay = replayed().at(replayed().board.end).of(1)
    line = replay_ticker(replay, 60).text()
    assert line.split("  ")[0].strip().startswith("2. Zoë° ")
    assert "1. Anna 11" in line
    assert replay_ticker(replay, 20).text().strip().startswith("2. Zoë°")
    assert "Otto" not in replay_ticker(replay, 30).text()


@every_game
def test_the_sentences_on_entries_differences_and_pauses_fit_a_line(name: str) -> None:
    boards = open_boards(finished(name))
    for board in boards:
        for step in range(len(board.positions)):
            said = last_entry_text(board, step, card_name)
            assert 0 < len(said) <= LINE
            if step and board.entries[step - 1].is_move:
                assert board.entry_words(step - 1) in said
        for pause in longest_pauses(board):
            assert len(pause_text(pause)) <= LINE
    for board in boards[1:]:
        assert len(difference_text(board, boards[0], card_name)) <= LINE


def test_the_last_entry_is_named_by_its_ending() -> None:
    board = replayed().board
    end = len(board.entries)
    assert last_entry_text(board, end, card_name).startswith("Cashed out at ")
    assert (board.entry_words(end), board.entry_words(end - 1)) == ("", "cashed out")


def test_the_last_move_names_the_card_that_it_turned_up() -> None:
    board = replayed("klondike").board
    turned = [
        step
        for step in range(1, len(board.positions))
        if turned_up(board.view(step - 1), board.view(step)) is not None
    ]
    said = [
        step
        for step in range(len(board.positions))
        if "turns up" in last_entry_text(board, step, card_name)
    ]
    assert said == turned != []


@pytest.mark.parametrize(
    "opened",
    [lambda: PracticeScreen(from_seed(GAMES["canfield"], "7")), lambda: reviewed(finished())],
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


KEYS = (("x", "cash out: end your race and keep what you banked; asks first"), ("q", "leave"))


def text(game: Game, width: int = 78) -> str:
    return page_text(help_page(game, KEYS, "KEYS", INK), width)


@pytest.mark.parametrize("game", GAMES.values())
@pytest.mark.parametrize("width", [52, 78, 96])
def test_no_line_is_wider_than_the_screen(game: Game, width: int) -> None:
    assert all(cell_len(line) <= width for line in text(game, width).split("\n"))


@pytest.mark.parametrize("game", GAMES.values())
def test_the_help_has_the_keys_the_rules_and_the_money_of_its_game(game: Game) -> None:
    # the column is as wide as the longest rule, so each rule takes one line
    words = " ".join(text(game, 600).split())
    assert f"RULES OF {game.title.upper()}" in words
    for heading, rule in game.describe():
        assert f"{heading} {rule}" in words
    assert f"A pack costs ${game.pack_price} and every" in words
    money = money_meter(game, 0)
    assert f"with {money.even} cards you are {money.even_word}." in words
    assert "x cash out" in words


@pytest.mark.parametrize("game", GAMES.values())
def test_the_keys_of_the_screen_are_seen_first_and_the_rules_after_those_of_the_board(
    game: Game,
) -> None:
    words = " ".join(text(game).split())
    headings = (
        "KEYS x cash out",
        "KEYS AT THE BOARD",
        "MOUSE",
        "RULES OF",
        "earlier wins.",
        "RULE BY",
    )
    places = [words.index(heading) for heading in headings]
    assert places == sorted(places)
    assert places[0] == 0


def test_keys_that_a_game_lacks_are_not_in_its_help() -> None:
    assert "bank down" not in text(GAMES["canfield"])
    assert "bank down" in text(GAMES["caprice"])


def test_every_symbol_is_one_cell_and_ascii_where_the_terminal_has_only_that() -> None:
    for ascii_only in (False, True):
        found = asdict(symbols_for(ascii_only))
        for sign in (*found.pop("parts"), *found.values()):
            assert cell_len(sign) == 1, sign
            assert sign.isascii() or not ascii_only, sign
