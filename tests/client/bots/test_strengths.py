"""A stronger bot banks more cards."""

import pytest

from kit.offline_bots import play_offline
from saratoga_client.bots.choose import CHOOSERS
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

DEALS = 20
"""The number of fixed deals, enough for a clear lead of the stronger bot."""

MORE_DEALS = {"klondike": 150}
"""The numbers for games in which most deals bank few cards and a few deals all, so that chance weighs more."""


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_each_bot_banks_more_than_the_next_weaker_one(game: Game) -> None:
    banked = {
        strength: sum(
            play_offline(
                game, deal_for_key(game, practice_key(f"test {number}")), chooser, variation=number
            ).end.banked
            for number in range(MORE_DEALS.get(game.name, DEALS))
        )
        for strength, chooser in CHOOSERS.items()
    }
    assert banked["even"] >= 1.3 * banked["weak"]
    assert banked["strong"] >= 1.05 * banked["even"]
