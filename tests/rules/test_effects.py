"""Effects of moves that the tests of the single games do not cover."""

from kit.positions import draw
from saratoga_rules.cards import HIDDEN
from saratoga_rules.effects import after
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.moves import parse_move
from saratoga_rules.views import redact


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


def test_the_last_face_down_card_turns_up_when_it_is_uncovered() -> None:
    position = draw(CANFIELD_AISLERIOT, "t1: 2C 3D | 9H 8C\nt2: TC\nt3: 4S | AH\nreserve: 5H")
    part = after(CANFIELD_AISLERIOT, position, parse_move("t1>t2"))
    assert part.face_down == position.face_down
    turned = after(CANFIELD_AISLERIOT, position, parse_move("t1>t2:2"))
    assert (turned.columns[0], turned.face_down_counts) == (("3D",), (1, 0, 1, 0))
    assert turned.reserve == ("5H",), "a column with a card left is no space"
    banked = after(CANFIELD_AISLERIOT, turned, parse_move("t3>up"))
    assert (banked.columns[2], banked.face_down_counts) == (("4S",), (1, 0, 0, 0))


def test_a_position_has_no_face_down_cards_when_the_last_one_has_turned_up() -> None:
    position = draw(CANFIELD, "t1: 2C | 9H\nt2: TC")
    turned = after(CANFIELD, position, parse_move("t1>t2"))
    assert turned == draw(CANFIELD, "t1: 2C\nt2: TC 9H")


def test_a_card_that_a_view_turns_up_is_hidden() -> None:
    view = redact(draw(CANFIELD, "t1: 2C | 9H\nt2: TC"))
    assert after(CANFIELD, view, parse_move("t1>t2")).columns[0] == (HIDDEN,)


def test_the_last_stock_card_fills_a_space_and_the_next_stays_open() -> None:
    position = draw(CAPRICE, "t1: 9H\nt2: TH\nt3: JH\nstock: 2C")
    filled = after(CAPRICE, position, parse_move("t1>t2"))
    assert filled.columns[0] == ("2C",)
    assert after(CAPRICE, filled, parse_move("t3>t2")).columns[2] == ()
