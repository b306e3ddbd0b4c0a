"""What is told of the rules."""

import pytest

from saratoga_client.rulebook import plain_lines, prose, table
from saratoga_rules.games import GAMES


@pytest.mark.parametrize("name", list(GAMES))
def test_every_game_is_told_in_prose_and_rule_by_rule(name: str) -> None:
    game = GAMES[name]
    assert prose(game)
    headings = [heading for heading, _ in table(game)]
    assert len(set(headings)) == len(headings)
    assert dict(game.describe()).items() <= dict(table(game)).items()


def test_the_price_of_a_game_is_that_of_its_packs() -> None:
    assert dict(table(GAMES["canfield"]))["money"].startswith("$50 for the cards")
    assert dict(table(GAMES["caprice"]))["money"].endswith("even at 20")


@pytest.mark.parametrize("name", list(GAMES))
def test_in_lines_each_rule_stands_alone(name: str) -> None:
    lines = list(plain_lines(GAMES[name]))
    assert lines[0] == f"game: {GAMES[name].title}"
    assert all("\n" not in line and line.partition(": ")[2] for line in lines)
