import pytest

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.money import net


@pytest.mark.parametrize(
    ("name", "start", "most"),
    [
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
def test_ten_cards_a_pack_break_even(name: str) -> None:
    assert net(GAMES[name], 10 * GAMES[name].packs) == 0
