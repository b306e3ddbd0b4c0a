"""The choices of every bot in every game: legal, repeatable, blind to hidden cards."""

import pytest

from kit.offline_bots import play_offline
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.strengths import CHOOSERS, Strength
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.position import Position
from saratoga_rules.views import redact

EVERY_GAME = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES.keys())
EVERY_STRENGTH = pytest.mark.parametrize("strength", Strength)


def deal(game: Game, number: int) -> Position:
    return deal_for_key(game, practice_key(f"test {number}"))


@EVERY_GAME
@EVERY_STRENGTH
def test_a_bot_makes_legal_moves_and_its_game_ends(game: Game, strength: Strength) -> None:
    start = deal(game, 0)
    played = play_offline(game, start, CHOOSERS[strength])
    position = start
    for move in played.moves:
        assert move in legal_moves(game, position)
        position = play(game, position, move)
    assert position == played.end


@EVERY_GAME
@EVERY_STRENGTH
def test_a_bot_plays_the_same_deal_the_same_way(game: Game, strength: Strength) -> None:
    start = deal(game, 1)
    once = play_offline(game, start, CHOOSERS[strength], variation=5)
    assert play_offline(game, start, CHOOSERS[strength], variation=5) == once


@EVERY_STRENGTH
@pytest.mark.parametrize("name", ["canfield", "lafayette", "caprice"])
def test_bots_with_different_variations_play_differently(name: str, strength: Strength) -> None:
    start = deal(GAMES[name], 3)
    ways = {
        play_offline(GAMES[name], start, CHOOSERS[strength], variation) for variation in range(5)
    }
    assert len(ways) > 1


@EVERY_GAME
@EVERY_STRENGTH
def test_hidden_cards_never_change_a_choice(game: Game, strength: Strength) -> None:
    choose = CHOOSERS[strength]
    position = deal(game, 2)
    for _ in range(30):
        swapped = position._replace(
            stock=position.stock[::-1], reserve=(*position.reserve[-2::-1], *position.reserve[-1:])
        )
        choice = choose(game, redact(position), Memory())
        assert choose(game, redact(swapped), Memory()) == choice
        if choice.move is None:
            break
        position = play(game, position, choice.move)
