"""Canfield by Bicycle Cards: positions that show its rules one by one."""

import pytest

from kit.positions import draw, legal, played, refused
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.judge import Refusal, is_won


def test_columns_are_built_down_in_alternating_colours() -> None:
    position = draw(CANFIELD, "t1: 8H\nt2: 8C\nt3: 7C\nt4: 9D\nreserve: 7S")
    assert refused(CANFIELD, position, "t3>t1") is None
    assert refused(CANFIELD, position, "t3>t2") is Refusal.DOES_NOT_BUILD
    assert refused(CANFIELD, position, "t1>t4") is Refusal.DOES_NOT_BUILD
    assert refused(CANFIELD, position, "r>t1") is None


def test_a_king_goes_on_an_ace() -> None:
    position = draw(CANFIELD, "t1: AH\nt2: KS\nt3: KD\nt4: 5S\nreserve: 2H")
    assert {"t2>t1"} == {move for move in legal(CANFIELD, position) if move.endswith("t1")}


def test_a_card_goes_on_the_base_card_of_a_column() -> None:
    position = draw(CANFIELD, "base: 7\nt1: 7H\nt2: 6S\nt3: 2C\nt4: TC\nup: C1\nreserve: 2H")
    assert refused(CANFIELD, position, "t2>t1") is None


def test_a_pile_moves_as_a_whole_and_only_as_a_whole() -> None:
    position = draw(CANFIELD, "t1: 9H 8C 7D\nt2: TC\nt3: 8S\nt4: 2C\nreserve: 2H\nbase: 5")
    assert refused(CANFIELD, position, "t1>t2:3") is None
    assert refused(CANFIELD, position, "t1>t3") is Refusal.NOT_A_PACKET
    assert refused(CANFIELD, position, "t1>t2:2") is Refusal.NOT_A_PACKET
    assert refused(CANFIELD, position, "t1>t2:4") is Refusal.NOT_SO_MANY
    assert refused(CANFIELD, position, "t1>t2") is Refusal.NOT_A_PACKET


def test_the_top_card_of_a_pile_goes_to_its_foundation_alone() -> None:
    position = draw(CANFIELD, "t1: 8C 7D\nt2: TC\nt3: TS\nt4: 2C\nup: D2\nbase: 5\nreserve: KH")
    after = played(CANFIELD, position, "t1>up")
    assert after.up == (0, 0, 0, 3)
    assert after.columns[0] == ("8C",)
    assert refused(CANFIELD, position, "t1>up:2") is Refusal.ONE_AT_A_TIME


def test_the_reserve_fills_a_space_as_part_of_the_move() -> None:
    position = draw(CANFIELD, "t1: 9H\nt2: TC\nt3: TS\nt4: 2C\nreserve: 4D KH")
    after = played(CANFIELD, position, "t1>t2")
    assert after.columns == (("KH",), ("TC", "9H"), ("TS",), ("2C",))
    assert after.reserve == ("4D",)


def test_the_reserve_fills_the_space_that_a_card_gone_up_left() -> None:
    position = draw(CANFIELD, "t1: 9H\nt2: TC\nt3: TS\nt4: 2C\nreserve: 4D\nup: H4\nbase: 5")
    after = played(CANFIELD, position, "t1>up")
    assert after.columns[0] == ("4D",)
    assert after.reserve == ()


def test_with_the_reserve_gone_a_space_stays_open() -> None:
    position = draw(CANFIELD, "t1: 9H\nt2: TC\nt3: TS\nt4: 2C\nwaste: 4D")
    after = played(CANFIELD, position, "t1>t2")
    assert after.columns[0] == ()
    assert after.waste == ("4D",)


def test_only_the_waste_fills_a_space_by_hand() -> None:
    position = draw(CANFIELD, "t1: 9H 8C\nt2: TC\nt4: 2C\nwaste: 4D 6H\nup: C1 H1\nbase: 5")
    assert refused(CANFIELD, position, "w>t3") is None
    assert refused(CANFIELD, position, "t1>t3") is Refusal.NOT_A_PACKET
    assert refused(CANFIELD, position, "t1>t3:2") is Refusal.CHANGES_NOTHING
    assert refused(CANFIELD, position, "t2>t3") is Refusal.CHANGES_NOTHING
    assert played(CANFIELD, position, "w>t3").columns[2] == ("6H",)


def test_foundations_go_around_the_corner_to_thirteen_cards() -> None:
    position = draw(CANFIELD, "t1: AS\nt2: QS\nwaste: QC\nup: S1 C13\nbase: K")
    assert refused(CANFIELD, position, "t1>up") is None
    assert refused(CANFIELD, position, "t2>up") is Refusal.FOUNDATION_WAITS
    assert refused(CANFIELD, position, "w>up") is Refusal.FOUNDATION_WAITS


def test_an_empty_foundation_takes_the_base_rank_only() -> None:
    position = draw(CANFIELD, "t1: 7S\nt2: AS\nt3: 8D\nreserve: 7H\nup: D1\nbase: 7")
    assert {"t1>up", "r>up", "t3>up"} == {m for m in legal(CANFIELD, position) if "up" in m}


def test_nothing_comes_back_from_a_foundation() -> None:
    position = draw(CANFIELD, "t1: 7H\nt2: 9H\nup: S6\nbase: A")
    assert refused(CANFIELD, position, "up.S>t1") is Refusal.NOT_FROM_FOUNDATIONS
    assert refused(CANFIELD, position, "up.S>up") is Refusal.NOT_FROM_FOUNDATIONS


def test_there_is_no_foundation_built_down() -> None:
    position = draw(CANFIELD, "t1: KH")
    assert refused(CANFIELD, position, "t1>down") is Refusal.NO_SUCH_PILE


def test_three_cards_are_turned_the_last_on_top() -> None:
    after = played(CANFIELD, draw(CANFIELD, "stock: 2C 3C 4C 5C\nwaste: KH"), "draw")
    assert "".join(after.waste) == "KH2C3C4C"
    assert after.stock == ("5C",)


@pytest.mark.parametrize(("stock", "waste"), [("2C", "KH2C"), ("2C 3C", "KH2C3C")])
def test_the_last_packet_may_be_short(stock: str, waste: str) -> None:
    after = played(CANFIELD, draw(CANFIELD, f"stock: {stock}\nwaste: KH"), "draw")
    assert "".join(after.waste) == waste
    assert after.stock == ()


def test_the_waste_is_turned_over_without_a_draw_any_number_of_times() -> None:
    position = draw(CANFIELD, "waste: 2C 3C 4C 5C\npass: 70")
    after = played(CANFIELD, position, "redeal")
    assert "".join(after.stock) == "2C3C4C5C"
    assert (after.waste, after.passes) == ((), 71)
    # the card drawn first in the last pass is drawn first again
    assert played(CANFIELD, after, "draw").waste == ("2C", "3C", "4C")


def test_there_is_no_redeal_while_the_stock_lasts_nor_without_a_waste() -> None:
    assert (
        refused(CANFIELD, draw(CANFIELD, "stock: 2C\nwaste: 3C"), "redeal") is Refusal.STOCK_REMAINS
    )
    assert refused(CANFIELD, draw(CANFIELD, "t1: 2C"), "redeal") is Refusal.NOTHING_TO_REDEAL
    assert refused(CANFIELD, draw(CANFIELD, "waste: 3C"), "draw") is Refusal.STOCK_IS_EMPTY


def test_won_with_52_cards_on_the_foundations() -> None:
    position = draw(CANFIELD, "t1: 6H\nup: C13 S13 H12 D13\nbase: 7")
    assert not is_won(CANFIELD, position)
    after = played(CANFIELD, position, "t1>up")
    assert is_won(CANFIELD, after)
    assert legal(CANFIELD, after) == set()
