from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.practices import moments, practice_at
from saratoga_client.input.move_text import ascii_card_name
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.game import make, new_game
from saratoga_client.practice.hints import hint
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DRAW, parse_move

every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@given(place=moments)
def test_a_hint_is_legal_and_fits_one_line(name: str, place: int) -> None:
    practice = practice_at(name, place)
    advice = hint(practice, practice.last_at)
    move = advice.hint.move
    assert move is None or move in legal_moves(practice.game, practice.position)
    assert len(advice.hint.says) <= 79, advice.hint.says
    assert advice.practice.position == practice.position
    assert "#" not in advice.hint.says
    assert "?" not in advice.hint.says


@every_game
@given(place=moments)
def test_a_repeated_hint_is_the_same(name: str, place: int) -> None:
    practice = practice_at(name, place)
    first = hint(practice, practice.last_at)
    assert hint(first.practice, practice.last_at).hint == first.hint


@every_game
@given(seed=st.integers(0, 200), chance=st.randoms(use_true_random=False))
def test_no_hint_looks_at_a_hidden_card(name: str, seed: int, chance: Random) -> None:
    game = GAMES[name]
    deal = from_seed(game, f"hidden {seed}")
    position = deal.position
    hidden = [*position.stock, *position.reserve[:-1]]
    chance.shuffle(hidden)
    stock = tuple(hidden[: len(position.stock)])
    reserve = (*hidden[len(position.stock) :], *position.reserve[-1:])
    other = PracticeDeal(game, position._replace(stock=stock, reserve=reserve), seed=deal.seed)
    one, two = new_game(deal), new_game(other)
    assert hint(one, 0).hint == hint(two, 0).hint


@every_game
def test_hints_alone_bank_something_and_come_to_an_end(name: str) -> None:
    practice = new_game(from_seed(GAMES[name], "led by the hand"))
    for at in range(600):
        advice = hint(practice, at)
        practice = advice.practice
        if advice.hint.move is None:
            break
        practice = make(practice, advice.hint.move, at)
    assert advice.hint.move is None
    assert practice.banked > practice.deal.position.banked
    assert practice.hints


def test_a_hint_has_a_move_and_a_reason() -> None:
    practice = new_game(from_seed(GAMES["canfield"], "demo"))
    advice = hint(practice, 0)
    assert advice.hint.move == parse_move("t4>up")
    assert advice.hint.says == "Hint: 7♦ from column 4 banked: the reserve has 12 left."
    after = make(advice.practice, parse_move("t4>up"), 1)
    again = hint(after, 2).hint
    assert again.move == DRAW
    assert again.says == "Hint: 3 cards from the stock to the waste: nothing better is in sight."
    assert hint(practice, 0, ascii_card_name).hint.says.isascii()


def test_without_a_useful_move_the_hint_says_so() -> None:
    practice = new_game(from_seed(GAMES["canfield"], "demo"))
    deal = practice.deal.position._replace(
        stock=(), waste=(), reserve=(), columns=((), (), (), ()), up=(1, 0, 0, 0)
    )
    empty = new_game(PracticeDeal(GAMES["canfield"], deal, seed="demo"))
    assert hint(empty, 0).hint.move is None
    assert "no legal move" in hint(empty, 0).hint.says
    won = new_game(PracticeDeal(GAMES["canfield"], deal._replace(up=(13, 13, 13, 13)), seed="demo"))
    assert "won" in hint(won, 0).hint.says
