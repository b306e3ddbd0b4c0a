"""The strong bot's evaluation of positions."""

import pytest

from kit.positions import draw
from saratoga_client.bots.evaluation import LARGEST_VARIATION, WEIGHTS, evaluator, weights_of
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES

CANFIELD = GAMES["canfield"]


def value(game: Game, picture: str) -> float:
    return evaluator(game, WEIGHTS[game.name])(draw(game, picture))


def test_a_banked_card_is_worth_more_than_the_same_card_in_a_column() -> None:
    assert value(CANFIELD, "up: S1\nbase: A") > value(CANFIELD, "t1: AS\nbase: A")


def test_each_card_of_the_reserve_lowers_the_value() -> None:
    assert value(CANFIELD, "reserve: 3D 4H\nbase: A") < value(CANFIELD, "reserve: 3D\nbase: A")


def test_each_face_down_card_lowers_the_value() -> None:
    game = GAMES["klondike"]
    evaluate = evaluator(game, weights_of(game, 0))
    assert evaluate(draw(game, "t1: ## ## | 8H")) < evaluate(draw(game, "t1: ## | 8H"))


@pytest.mark.parametrize("name", ["klondike", "lafayette"])
def test_a_hidden_card_that_turns_up_has_a_value_of_its_own(name: str) -> None:
    game = GAMES[name]
    weights = weights_of(game, 0)
    opened = draw(game, "t1: 8H")
    turned = opened._replace(columns=((HIDDEN,), *opened.columns[1:]))
    evaluate = evaluator(game, weights)
    assert evaluate(turned) == pytest.approx(evaluate(opened) + weights.unseen)


def test_cards_built_in_order_are_worth_more_than_the_same_cards_apart() -> None:
    apart = value(CANFIELD, "t1: 8D\nt2: 7C\nbase: A") + WEIGHTS["canfield"].space
    assert value(CANFIELD, "t1: 8D 7C\nbase: A") > apart


def test_a_card_above_one_that_is_banked_earlier_lowers_the_value() -> None:
    assert value(CANFIELD, "t1: AS KS\nbase: A") < value(CANFIELD, "t1: KS AS\nbase: A")


@pytest.mark.parametrize("name", GAMES)
def test_a_variation_changes_weights_only_a_little(name: str) -> None:
    standard, varied = weights_of(GAMES[name], 0), weights_of(GAMES[name], 12345)
    assert standard == WEIGHTS.get(name, standard)
    assert varied != standard
    for feature in ("reserve", "hand", "face_down", "space", "joined", "blocker", "unseen"):
        weight = getattr(standard, feature)
        assert abs(getattr(varied, feature) - weight) <= LARGEST_VARIATION * abs(weight) + 1e-9
