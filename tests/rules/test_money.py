from dataclasses import replace

import pytest

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.money import even_at, net, price


@pytest.mark.parametrize(
    ("name", "start", "most"),
    [
        ("klondike", -52, 208),
        ("canfield", -45, 210),
        ("canfield-aisleriot", -45, 210),
        ("lafayette", -50, 210),
        ("lady-palk", -100, 420),
        ("caprice", -60, 420),
    ],
)
def test_what_a_game_costs_and_what_it_pays_at_most(name: str, start: int, most: int) -> None:
    game = GAMES[name]
    assert net(game, deal_for_key(game, b"any deal").banked) == start
    assert net(game, game.cards) == most


@pytest.mark.parametrize("name", GAMES)
def test_with_fewer_cards_than_even_the_player_loses_money(name: str) -> None:
    game = GAMES[name]
    assert net(game, even_at(game)) >= 0 > net(game, even_at(game) - 1)


def test_a_game_names_the_price_of_a_pack() -> None:
    game = replace(GAMES["caprice"], pack_price=52)
    assert price(game) == 104
    assert [net(game, banked) for banked in (8, 20, 21, 104)] == [-64, -4, 1, 416]
    assert even_at(game) == 21
