"""What the page knows of each game."""

import json
from dataclasses import replace
from types import MappingProxyType

import pytest

from saratoga_rules.games import GAMES
from saratoga_rules.money import net
from saratoga_server.transport import game_facts as module
from saratoga_server.transport.game_facts import game_facts


def test_every_game_has_its_facts_in_the_order_of_the_games() -> None:
    told = json.loads(game_facts())
    assert list(told["games"]) == list(GAMES)
    for game in GAMES.values():
        facts = told["games"][game.name]
        assert facts["title"] == game.title
        assert told["prize"] * 10 - facts["price"] == net(game, 10)


def test_facts_are_those_of_the_rules() -> None:
    games = json.loads(game_facts())["games"]
    assert games["klondike"] == {
        "title": "Klondike",
        "packs": 1,
        "price": 52,
        "columns": 7,
        "up": 4,
        "down": 0,
        "reserve": False,
        "draw": 3,
        "passes": 3,
        "in_suit": False,
        "deal": [["Triangle"]],
    }
    assert games["canfield"]["deal"] == [["ToReserve", 13], ["BaseCard"], ["ToColumns", 1]]
    assert (games["canfield"]["reserve"], games["canfield"]["passes"]) == (True, 0)
    assert (games["caprice"]["draw"], games["caprice"]["in_suit"]) == (0, True)


def test_a_title_cannot_end_the_element_that_holds_the_facts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd = replace(GAMES["canfield"], title="</script>")
    monkeypatch.setattr(module, "GAMES", MappingProxyType({"odd": odd}))
    assert b"<" not in game_facts()
    assert json.loads(game_facts())["games"]["odd"]["title"] == "</script>"
