from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.positions import draw
from kit.secrecy import rearranged, slots
from kit.solo_player import moments, practice_at
from saratoga_client.input.move_text import ascii_card_name
from saratoga_client.practice.deals import PracticeDeal, from_seed
from saratoga_client.practice.game import make, new_game, undo
from saratoga_client.practice.hints import hint
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DRAW, parse_move

KLONDIKE = GAMES["klondike"]

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
    hidden = slots(position)
    shuffled = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
    other = PracticeDeal(game, rearranged(position, shuffled), seed=deal.seed)
    one, two = new_game(deal), new_game(other)
    assert hint(one, 0).hint == hint(two, 0).hint


def face_down_ace() -> PracticeDeal:
    """Return a deal in which a move turns a card up, and then another one banks an ace."""
    position = draw(KLONDIKE, "t1: AS | 8H\nt2: 9S\nt3: 4D\nt4: 6D\nt5: 2D\nt6: QD\nt7: KD")
    return PracticeDeal(KLONDIKE, position, seed="drawn")


def test_a_hint_says_that_a_card_turns_up_and_not_which() -> None:
    advice = hint(new_game(face_down_ace()), 0)
    assert advice.hint.move == parse_move("t1>t2")
    assert advice.hint.says == "Hint: 8♥ from column 1 to column 2: that turns a card up."


def test_after_an_undo_the_card_that_had_turned_up_is_face_down_and_hints_do_not_use_it() -> None:
    first = hint(new_game(face_down_ace()), 0)
    turned = make(new_game(face_down_ace()), parse_move("t1>t2"), 1)
    assert turned.view.columns[0] == ("AS",)
    assert turned.view.face_down == ()
    back = undo(turned, 2)
    assert back.view == first.practice.view
    assert back.memory == new_game(face_down_ace()).memory
    assert hint(back, 3).hint == first.hint
    assert not back.is_clean


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
