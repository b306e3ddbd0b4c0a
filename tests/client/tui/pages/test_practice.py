"""The texts around the board in practice, and golden pictures of whole screens."""

from dataclasses import replace

import pytest

from kit.solo_player import FOLDER, PICTURES, picture
from saratoga_client.practice.deals import from_seed
from saratoga_client.practice.game import new_game
from saratoga_client.practice.ghost import Ghost
from saratoga_client.review.climb import Climb
from saratoga_client.tui.pages.practice import (
    PracticeStanding,
    practice_panel,
    practice_ticker,
    practice_title,
)
from saratoga_client.tui.pages.symbols import LETTERS, UNICODE
from saratoga_client.wording import money_meter
from saratoga_rules.games import GAMES

GHOST = Ghost("your run, 9 banked in 3:00", Climb(1, ((10_000, 4), (180_000, 9)), 180_000))


def standing(name: str = "canfield", seed: str = "7") -> PracticeStanding:
    return PracticeStanding(practice=new_game(from_seed(GAMES[name], seed)), elapsed=61_000)


@pytest.mark.parametrize("name", PICTURES)
async def test_screens_look_as_they_were_approved(name: str) -> None:
    assert await picture(name) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GAMES)
def test_the_tick_stands_where_the_packs_are_paid(name: str) -> None:
    game = GAMES[name]
    rows = practice_panel(standing(name), UNICODE, 24, 21).text().splitlines()
    tick = next(row for row in rows if "╎" in row and "=" in row)
    money = money_meter(game, 0)
    assert tick.index("╎") == 1 + round(22 * money.even / game.goal.cards)
    assert f"{money.even} = {money.even_word}" in tick


def test_the_ghosts_count_is_that_of_the_same_moment() -> None:
    with_ghost = replace(standing(), ghost=GHOST)
    text = " ".join(practice_panel(with_ghost, LETTERS, 24, 21).text().split())
    assert "now 4, you 1" in text
    assert "3 cards behind the ghost" in text
    assert "it stopped" not in text
    late = replace(with_ghost, elapsed=181_000)
    assert "stopped at 3:00" in practice_panel(late, LETTERS, 24, 21).text()
    assert "behind the ghost" in practice_ticker(with_ghost, 60).text()


def test_where_there_is_little_room_whole_sections_go_first() -> None:
    text = practice_panel(replace(standing(), ghost=GHOST), LETTERS, 24, 12).text()
    assert "GHOST" not in text
    assert "moves 0" in text


def test_the_title_drops_facts_rather_than_cut_the_clock() -> None:
    for width in range(24, 90):
        line = practice_title(standing(seed="x" * 40), width).text()
        assert line.startswith(" PRACTICE")
        assert line.endswith("1:01")
