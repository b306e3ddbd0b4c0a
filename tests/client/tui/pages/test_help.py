"""The keys and the rules of one game."""

from typing import Final

import pytest
from rich.cells import cell_len

from kit.screen_cells import INK, page_text
from saratoga_client.tui.pages.help import RACE_KEYS, Keys, help_page
from saratoga_client.wording import money_meter
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.prose import prose


def text(game: Game, width: int = 78, keys: Keys = RACE_KEYS) -> str:
    return page_text(help_page(game, keys, "KEYS", INK), width)


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


ROWS: Final = 21
"""Rows of the page on a screen of 80x24, whose other rows are title, message and keys."""


@pytest.mark.parametrize("game", GAMES.values())
def test_the_rules_and_the_money_are_seen_first_at_80x24_without_scrolling(game: Game) -> None:
    first = " ".join(" ".join(text(game).split("\n")[:ROWS]).split())
    assert first.startswith(f"RULES OF {game.title.upper()} {prose(game)[0]}")
    assert prose(game)[-1] in first
    assert first.index("who last rose to it earlier wins.") < first.index("RULE BY RULE")
    assert "KEYS" not in first


def test_keys_that_a_game_lacks_are_not_in_its_help() -> None:
    assert "bank down" not in text(GAMES["canfield"])
    assert "bank down" in text(GAMES["caprice"])


def test_long_effects_go_on_below_themselves_and_never_below_their_keys() -> None:
    lines = text(GAMES["canfield"], 40, (("z  u", "undo a move and all its consequences"),)).split(
        "\n"
    )
    at = lines.index(" KEYS")
    assert lines[at + 1].startswith(" z  u              undo")
    assert lines[at + 2].startswith(" " * 19)
    assert lines[at + 2].strip()
