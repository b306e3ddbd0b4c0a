"""Every bot strength has a function that chooses moves; the strong bot banks more cards."""

import pytest

from saratoga_client.bots.offline import play_offline
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

DEALS = 12
"""The number of fixed deals, enough for a clear lead of the strong bot."""


def test_every_strength_has_a_chooser() -> None:
    assert set(CHOOSERS) == set(Strength)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
def test_the_strong_bot_banks_more_than_the_weak_one(game: Game) -> None:
    banked = {
        strength: sum(
            play_offline(
                game, deal_for_key(game, practice_key(f"test {number}")), chooser, variation=number
            ).end.banked
            for number in range(DEALS)
        )
        for strength, chooser in CHOOSERS.items()
    }
    assert banked[Strength.STRONG] >= 1.3 * banked[Strength.WEAK]
