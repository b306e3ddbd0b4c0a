"""The text of the rules of every game."""

import pytest

from saratoga_client.rules_text import plain_lines, prose, table
from saratoga_rules.games import GAMES

SAID = {
    "canfield": (
        "alternating colours", "king on an ace", "only as a whole", "only from the waste",
        "as often as you like", "three cards at a time", "reserve",
    ),
    "canfield-aisleriot": (
        "whole or part", "three times: two redeals", "may come back", "never its first",
        "anything may go into a space",
    ),
    "lafayette": (
        "a card at a time", "up from its ace and down from its king", "any one card",
        "never filled automatically", "card by card", "end at the ace",
    ),
    "lady-palk": (
        "Eight columns of four", "without regard to suit", "a king or a run headed by one",
        "card by card, once",
    ),
    "caprice": (
        "Twelve columns", "in suit, up or down", "kings and aces do not meet", "dealt once",
        "fills a space at once", "any one card may go into a space",
    ),
}  # fmt: skip
"""Words that the text of each game must contain."""


@pytest.mark.parametrize("name", list(GAMES))
def test_every_game_is_described_in_prose_and_rule_by_rule(name: str) -> None:
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


@pytest.mark.parametrize("name", list(GAMES))
def test_what_makes_the_game_this_game_is_said(name: str) -> None:
    told = " ".join(prose(GAMES[name]))
    assert [phrase for phrase in SAID[name] if phrase not in told] == []
