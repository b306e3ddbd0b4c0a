from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.solo_player import finished
from saratoga_client.input.move_text import ascii_card_name
from saratoga_client.review.replay import Replay, replay_of
from saratoga_client.tui.pages.replay import (
    ReplayState,
    replay_panel,
    replay_ticker,
    replay_title,
)
from saratoga_client.tui.pages.symbols import LETTERS
from saratoga_rules.games import GAMES


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


def test_the_panel_names_the_face_down_cards_of_each_column() -> None:
    opened = ReplayState(replay=replayed("klondike"), is_open=True)
    rows = replay_panel(opened, LETTERS, ascii_card_name, 24, 21).text().splitlines()
    first = rows.index(" COLUMNS, FROM THE TOP") + 1
    assert rows[first : first + 7] == [
        *(
            f" {number} {' '.join(map(ascii_card_name, reversed(cards)))}"
            for number, cards in enumerate(opened.replay.position.face_down[1:], start=2)
        ),
        "",
    ]


def test_the_panel_shows_every_count_at_the_moment() -> None:
    replay = replayed().at(60_000)
    rows = (
        replay_panel(ReplayState(replay=replay), LETTERS, ascii_card_name, 24, 21)
        .text()
        .splitlines()
    )
    assert rows[0] == " BANKED BY 1:00"
    for index, row in enumerate(rows[1:4]):
        board = replay.boards[index]
        assert row.lstrip("> ").startswith(f"{board.place} {board.name}")
        assert int(row.split()[-2]) == board.positions[board.step_at(60_000)].banked


@pytest.mark.parametrize("name", GAMES)
def test_a_bots_short_name_is_whole_where_counts_have_two_digits(name: str) -> None:
    replay = replayed(name)
    boards = tuple(replace(board, name="Thea", bot=True) for board in replay.boards)
    seen = ReplayState(replay=replace(replay, boards=boards))
    rows = replay_panel(seen, LETTERS, ascii_card_name, 24, 21).text().splitlines()
    assert all(len(row) <= 24 for row in rows)
    assert ("Thea [bot]" in rows[1]) is (GAMES[name].goal.cards < 100)


def test_the_mark_below_the_chart_goes_from_end_to_end() -> None:
    replay = replayed()
    ends = []
    for at in (0, replay.end):
        seen = ReplayState(replay=replay.at(at))
        rows = replay_panel(seen, LETTERS, ascii_card_name, 24, 21).text().splitlines()
        ends.append(rows[-2].index("^"))
    assert ends == [4, 22]


def test_of_many_racers_those_around_the_shown_one_are_listed() -> None:
    replay = replayed()
    seen = ReplayState(replay=replay.of(2))
    rows = replay_panel(seen, LETTERS, ascii_card_name, 24, 3).text().splitlines()
    assert any(row.startswith("> 3 Otto") for row in rows)


def test_the_title_shows_time_and_speed() -> None:
    replay = replayed().stepped(3)
    title = replay_title(ReplayState(replay=replay, speed=8), 80).text()
    assert title.startswith(" REPLAY  Lafayette  mint-otter-42/2  1. Anna  3/")
    assert " x8  0:05." in title
    assert replay_title(ReplayState(replay=replay), 40).text().endswith(" of 1:44")


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
