import pytest
from hypothesis import given

from kit.positions import draw
from kit.walks import places, step_at
from saratoga_client.input.prediction import predicted_view
from saratoga_rules.cards import HIDDEN
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.judge import IllegalMove, play
from saratoga_rules.moves import DRAW, REDEAL, parse_move
from saratoga_rules.position import Position
from saratoga_rules.views import View, redact


def turned_up(before: View, after: View) -> bool:
    """Return whether a move turned cards up, counting also cards that went to a foundation."""
    return face_up(after) > face_up(before)


def face_up(position: Position) -> int:
    piles = (position.waste, position.reserve, *position.columns)
    return position.banked + sum(card != HIDDEN for pile in piles for card in pile)


@pytest.mark.parametrize("name", GAMES)
@given(place=places)
def test_a_predicted_view_equals_the_servers_view(name: str, place: int) -> None:
    game, position, legal, _ = step_at(name, place)
    view = redact(position)
    for move in legal:
        after = redact(play(game, position, move))
        expected = None if turned_up(view, after) else after
        assert predicted_view(game, view, move) == expected, move


def test_a_draw_is_never_predicted() -> None:
    view = redact(draw(CANFIELD, "stock: 2C 3C\nt1: KS"))
    assert predicted_view(CANFIELD, view, DRAW) is None


def test_a_redeal_is_predicted_and_hides_the_waste_again() -> None:
    view = redact(draw(CANFIELD, "waste: 2C 3C\nt1: KS"))
    after = predicted_view(CANFIELD, view, REDEAL)
    assert after is not None
    assert after.stock == (HIDDEN, HIDDEN)
    assert after.waste == ()
    assert after.passes == 2


@pytest.mark.parametrize(
    ("reserve", "known"), [("## 9H", False), ("9H", True), ("", True)], ids=["two", "one", "none"]
)
def test_a_space_filled_from_the_reserve_is_predicted_unless_a_card_turns_up(
    reserve: str, known: bool
) -> None:
    view = redact(draw(CANFIELD, f"reserve: {reserve}\nt1: QH\nt2: KS\nt3: 2C\nt4: 5C"))
    after = predicted_view(CANFIELD, view, parse_move("t1>t2"))
    assert (after is not None) == known


def test_a_space_filled_from_the_stock_is_not_predicted() -> None:
    picture = "t1: 5H\nt2: 6H"
    move = parse_move("t1>t2")
    assert predicted_view(CAPRICE, redact(draw(CAPRICE, f"{picture}\nstock: 2C")), move) is None
    assert predicted_view(CAPRICE, redact(draw(CAPRICE, picture)), move) is not None


def test_the_last_card_of_a_reserve_leaves_nothing_to_turn() -> None:
    move = parse_move("r>t1")
    assert (
        predicted_view(LAFAYETTE, redact(draw(LAFAYETTE, "reserve: 9H\nt1: TS")), move) is not None
    )
    assert (
        predicted_view(LAFAYETTE, redact(draw(LAFAYETTE, "reserve: 2C 9H\nt1: TS")), move) is None
    )


def test_a_move_that_turns_up_a_card_of_its_column_is_not_predicted() -> None:
    view = redact(draw(KLONDIKE, "t1: 2C | 9H 8S\nt2: TC\nt3: 9D"))
    assert predicted_view(KLONDIKE, view, parse_move("t1>t2:2")) is None
    part = predicted_view(KLONDIKE, view, parse_move("t1>t3"))
    assert part is not None
    assert part.face_down_counts == view.face_down_counts


def test_predicting_an_illegal_move_raises() -> None:
    view = redact(draw(LAFAYETTE, "t1: 9H\nt2: TH"))
    with pytest.raises(IllegalMove):
        predicted_view(LAFAYETTE, view, parse_move("t1>t2"))
