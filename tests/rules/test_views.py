import pytest

from kit.positions import draw
from saratoga_rules.cards import HIDDEN, parse_cards
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.views import redact


def test_the_stock_and_all_of_the_reserve_but_its_top_are_hidden() -> None:
    position = draw(
        CANFIELD,
        """
        stock: 2C 3C
        waste: 7C 8D
        reserve: 9H TS JD
        up: S2
        t1: KS
        base: 5
        """,
    )
    assert redact(position) == position._replace(
        stock=(HIDDEN, HIDDEN), reserve=parse_cards("## ## JD")
    )


def test_face_down_cards_are_hidden_and_the_cards_on_them_are_not() -> None:
    position = draw(CANFIELD, "t1: 2C 3C | KS QH\nt2: 5S")
    assert redact(position) == draw(CANFIELD, "t1: ## ## | KS QH\nt2: 5S")


def test_an_empty_reserve_and_an_empty_stock_stay_empty() -> None:
    position = draw(CANFIELD, "t1: KS")
    assert redact(position) == position


@pytest.mark.parametrize("name", GAMES)
def test_a_view_of_a_view_is_the_same_view(name: str) -> None:
    view = redact(deal_for_key(GAMES[name], b"seen twice"))
    assert redact(view) == view
