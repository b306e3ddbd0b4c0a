import pytest
from hypothesis import given

from kit.positions import draw
from kit.walks import places, step_at
from saratoga_client.practice.safe_moves import banking_moves, safe_move
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import parse_move
from saratoga_rules.views import redact

CANFIELD = GAMES["canfield"]
every_game = pytest.mark.parametrize("name", GAMES)


@every_game
@given(place=places)
def test_a_safe_move_is_legal_and_banks_a_card(name: str, place: int) -> None:
    step = step_at(name, place)
    move = safe_move(step.game, redact(step.position))
    if move is not None:
        assert move in step.legal
        assert play(step.game, step.position, move).banked == step.position.banked + 1


def test_a_base_card_is_safe() -> None:
    position = draw(CANFIELD, "t1: 7C\nt2: 9D\nbase: 7\nup: H1")
    assert safe_move(CANFIELD, redact(position)) == parse_move("t1>up")


def test_a_card_on_which_something_may_still_be_built_is_not_safe() -> None:
    # the eight of hearts could still hold the seven of clubs, which is in play
    position = draw(CANFIELD, "t1: 8H\nt2: 2D\nwaste: 7C 2H\nbase: 7\nup: H1 S1")
    assert banking_moves(legal_moves(CANFIELD, redact(position))) == [parse_move("t1>up")]
    assert safe_move(CANFIELD, redact(position)) is None
    both = draw(CANFIELD, "t1: 8H\nt2: 2D\nwaste: 2H\nbase: 7\nup: H1 S1 C1")
    assert safe_move(CANFIELD, redact(both)) == parse_move("t1>up")


def test_every_card_is_safe_if_banking_alone_wins() -> None:
    lafayette = GAMES["lafayette"]
    position = draw(lafayette, "t1: QH\nt2: KH\nt3: JS\nt4: QS KS\nup: C13 D13 H11 S10")
    view = redact(position)
    move = safe_move(lafayette, view)
    assert move is not None
    for _ in range(5):
        move = safe_move(lafayette, redact(position))
        assert move is not None
        position = play(lafayette, position, move)
    assert position.banked == 52
