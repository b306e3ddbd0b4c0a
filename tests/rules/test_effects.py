"""Effects of moves that the tests of the single games do not cover."""

from kit.positions import draw
from saratoga_rules.effects import after
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.moves import parse_move


def test_a_move_touches_only_the_piles_it_names() -> None:
    picture = "t1: 9H 8C 7D\nt2: TC\nt3: 8S\nreserve: 2H 3H\nwaste: 4C\nstock: 5C\nup: S2\npass: 2"
    position = draw(CANFIELD_AISLERIOT, picture)
    assert after(CANFIELD_AISLERIOT, position, parse_move("t1>t3")) == draw(
        CANFIELD_AISLERIOT, picture.replace("9H 8C 7D", "9H 8C").replace("t3: 8S", "t3: 8S 7D")
    )


def test_the_card_that_fills_a_space_is_not_the_one_that_left() -> None:
    position = draw(CANFIELD, "t1: 9H\nt2: TC\nreserve: 2H 3H")
    assert after(CANFIELD, position, parse_move("r>t3")).reserve == ("2H",)
    assert after(CANFIELD, position, parse_move("t1>t2")).columns[0] == ("3H",)


def test_the_last_stock_card_fills_a_space_and_the_next_stays_open() -> None:
    position = draw(CAPRICE, "t1: 9H\nt2: TH\nt3: JH\nstock: 2C")
    filled = after(CAPRICE, position, parse_move("t1>t2"))
    assert filled.columns[0] == ("2C",)
    assert after(CAPRICE, filled, parse_move("t3>t2")).columns[2] == ()
