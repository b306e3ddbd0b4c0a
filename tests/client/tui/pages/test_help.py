"""The help, and the news for a reader."""

from dataclasses import asdict

import pytest
from rich.cells import cell_len

from kit.table_screens import INK, page_text
from saratoga_client.board_view.roles import symbols_for
from saratoga_client.tui.reading import help_page
from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

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
