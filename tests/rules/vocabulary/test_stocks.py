from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.stocks import UNLIMITED, dealt_to_columns, turned


def test_a_turned_stock_goes_to_the_waste_any_number_of_times() -> None:
    assert (turned(3).onto, turned(3).draw, turned(3).passes) == (Pile.WASTE, 3, UNLIMITED)


def test_a_dealt_stock_goes_to_the_columns_once() -> None:
    assert (dealt_to_columns().onto, dealt_to_columns().passes) == (Pile.COLUMN, 1)


def test_stocks_print_as_rules() -> None:
    assert str(turned(3)) == "3 cards at a time onto the waste, as often as you like"
    assert str(turned(1, passes=1)) == "1 card at a time onto the waste, 1 pass"
    assert str(turned(3, passes=3)) == "3 cards at a time onto the waste, 3 passes"
    assert str(dealt_to_columns()) == "a card to each column, 1 pass"
