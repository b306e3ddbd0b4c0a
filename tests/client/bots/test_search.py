"""The strong bot's search uses known cards only."""

from kit.positions import draw
from saratoga_client.bots.search import look_ahead
from saratoga_rules.games import GAMES
from saratoga_rules.moves import parse_move
from saratoga_rules.position import Position, parse_position

LAFAYETTE = GAMES["lafayette"]


def banked(position: Position) -> float:
    return position.banked


def plan(text: str, limit: int = 200) -> list[str]:
    return [str(move) for move in look_ahead(LAFAYETTE, parse_position(text), banked, limit)]


def test_known_cards_of_the_stock_are_drawn_up_to_a_useful_one() -> None:
    text = "stock=9C5DAS waste=8H reserve=##KD up=0,0,0,0 down=0,0,0,0 columns=3H/3D/5H/4H base=1 passes=2"
    assert plan(text) == ["draw", "draw", "draw", "w>up", "r>down"]


def test_without_an_improvement_there_is_no_plan() -> None:
    text = "stock=- waste=- reserve=- up=0,0,0,0 down=0,0,0,0 columns=5H/7H/9H/JH base=1 passes=2"
    assert plan(text) == []


def test_hidden_cards_of_the_stock_are_not_searched() -> None:
    text = (
        "stock=#### waste=- reserve=- up=0,0,0,0 down=0,0,0,0 columns=5H/7H/9H/JH base=1 passes=1"
    )
    assert plan(text) == []


def test_columns_that_look_alike_over_other_numbers_of_face_down_cards_are_told_apart() -> None:
    game = GAMES["klondike"]
    position = draw(game, "t1: ## ## | 8H\nt2: ## | 8H\nt3: 9S")

    def without_face_down_cards(position: Position) -> float:
        return position.face_down_counts.count(0)

    assert look_ahead(game, position, without_face_down_cards, 200) == (parse_move("t2>t3"),)
