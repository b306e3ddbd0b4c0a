"""The keys and the rules of exactly this game."""

import pytest
from rich.cells import cell_len

from saratoga_client.tui.pages.help import help_lines
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES


def text(game: Game, width: int, is_race: bool = True) -> str:
    lines = help_lines(game, width, is_race=is_race)
    return "\n".join("".join(piece for piece, _ in line) for line in lines)


@pytest.mark.parametrize("game", GAMES.values())
@pytest.mark.parametrize("width", [52, 78, 96])
def test_no_line_is_wider_than_asked_for(game: Game, width: int) -> None:
    assert all(cell_len(line) <= width for line in text(game, width).split("\n"))


@pytest.mark.parametrize("game", GAMES.values())
def test_it_tells_the_keys_the_rules_and_the_money_of_this_game(game: Game) -> None:
    told = " ".join(text(game, 78).split())
    assert f"THE RULES OF {game.title.upper()}" in told
    for _, sentence in game.describe():
        assert sentence in told
    assert f"with {10 * game.packs} cards you are even" in told
    assert "x cash out" in told


def test_keys_that_a_game_has_not_are_not_told() -> None:
    assert "bank down" not in text(GAMES["canfield"], 78)
    assert "bank down" in text(GAMES["caprice"], 78)


def test_practice_has_no_keys_of_races() -> None:
    assert "cash out" not in text(GAMES["canfield"], 78, is_race=False)
