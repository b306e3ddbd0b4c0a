"""The text of the rules of every game."""

from dataclasses import replace

import pytest

from kit.positions import draw
from saratoga_client.rules_text import column_rules, table
from saratoga_rules.games import GAMES, prose
from saratoga_rules.position import redact

SAID = {
    "klondike": (
        "one to seven cards", "only the last of each face up", "alternating colours",
        "whole or part", "turns up as soon as", "a king or a run headed by one", "never an ace",
        "three times", "$52",
    ),
    "canfield": (
        "alternating colours", "king on an ace", "only as a whole", "only the waste",
        "as often as you like", "three cards at a time", "reserve",
    ),
    "canfield-aisleriot": (
        "whole or part", "three times: two redeals", "may come back", "never its first",
        "anything may go there",
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
        "fills an empty column at once", "any one card may go there",
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
    dearer = replace(GAMES["canfield"], pack_price=52)
    assert dict(table(dearer))["money"] == "$52 for the cards, $5 back for each banked; ahead at 11"


@pytest.mark.parametrize("name", list(GAMES))
def test_what_makes_the_game_this_game_is_said(name: str) -> None:
    told = " ".join(prose(GAMES[name]))
    assert [phrase for phrase in SAID[name] if phrase not in told] == []


def test_a_space_is_no_longer_filled_from_a_pile_that_is_gone() -> None:
    def fills(name: str, picture: str) -> str:
        return column_rules(GAMES[name], redact(draw(GAMES[name], picture)))[1]

    assert fills("canfield", "reserve: 4S") == "An empty column is filled from the reserve."
    assert fills("canfield", "stock: 4S") == "An empty column takes only the top card of the waste."
    assert fills("caprice", "stock: 4S") == "An empty column is filled from the stock."
    assert fills("caprice", "t1: 4S") == "An empty column takes anything that may be carried."
