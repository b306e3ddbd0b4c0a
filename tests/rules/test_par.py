"""Par: its line is played to the end by the judge, banks what it says, and is the same every time."""

import pytest

from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.par import par
from saratoga_rules.play import play


@pytest.mark.parametrize("name", GAMES)
def test_the_judge_accepts_the_line_of_par_which_banks_its_count(name: str) -> None:
    game = GAMES[name]
    position = start = deal_for_key(game, practice_key("par"))
    line = par(game, start, budget=1_500)
    for move in line.moves:
        position = play(game, position, move)
    assert position.banked == line.banked > start.banked
    assert par(game, start, budget=1_500) == line


def test_par_wins_a_deal_that_can_be_won_and_stops_there() -> None:
    game = GAMES["caprice"]
    assert par(game, deal_for_key(game, practice_key("par 0"))).banked == game.cards
