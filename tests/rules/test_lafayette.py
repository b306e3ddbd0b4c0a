"""Lafayette: positions that show its rules one by one."""

from kit.positions import draw, legal, played, refused
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.judge import Refusal, is_won


def test_a_card_that_fits_both_foundations_goes_where_its_player_says() -> None:
    position = draw(LAFAYETTE, "t1: 7C\nup: C6\ndown: C6")
    assert {"t1>up", "t1>down"} <= legal(LAFAYETTE, position)
    assert played(LAFAYETTE, position, "t1>up").up[0] == 7
    assert played(LAFAYETTE, position, "t1>down").down[0] == 7


def test_the_foundations_built_down_begin_with_the_king() -> None:
    position = draw(LAFAYETTE, "t1: KC\nt2: QC\nreserve: KS\nwaste: QS\ndown: S1")
    assert refused(LAFAYETTE, position, "t1>down") is None
    assert refused(LAFAYETTE, position, "t2>down") is Refusal.FOUNDATION_WAITS
    assert refused(LAFAYETTE, position, "t1>up") is Refusal.FOUNDATION_WAITS
    assert refused(LAFAYETTE, position, "w>down") is None


def test_foundations_do_not_go_around_the_corner() -> None:
    position = draw(LAFAYETTE, "t1: AC\nt2: KC\nup: C13")
    assert refused(LAFAYETTE, position, "t1>up") is Refusal.FOUNDATION_WAITS


def test_nothing_goes_on_an_ace() -> None:
    position = draw(LAFAYETTE, "t1: AH\nt2: KS\nt3: 2S\nt4: 5D")
    assert refused(LAFAYETTE, position, "t2>t1") is Refusal.DOES_NOT_BUILD
    assert refused(LAFAYETTE, position, "t1>t3") is None


def test_cards_move_one_at_a_time() -> None:
    position = draw(LAFAYETTE, "t1: 9H 8C\nt2: TC\nt3: 9D\nt4: 2C")
    assert refused(LAFAYETTE, position, "t1>t2:2") is Refusal.NOT_A_PACKET
    assert refused(LAFAYETTE, position, "t1>t3") is None


def test_a_space_takes_any_one_card_from_anywhere_but_a_foundation() -> None:
    position = draw(LAFAYETTE, "t1: 9H 8C\nt2: TC\nt4: 2C\nreserve: 3D 5H\nwaste: 6D\nup: S2")
    assert {move for move in legal(LAFAYETTE, position) if ">t3" in move} == {
        "t1>t3", "r>t3", "w>t3",
    }  # fmt: skip
    assert refused(LAFAYETTE, position, "t2>t3") is Refusal.CHANGES_NOTHING
    assert refused(LAFAYETTE, position, "t1>t3:2") is Refusal.CHANGES_NOTHING
    assert refused(LAFAYETTE, position, "up.S>t3") is Refusal.NOT_FROM_FOUNDATIONS


def test_a_space_is_not_filled_automatically() -> None:
    position = draw(LAFAYETTE, "t1: 9H\nt2: TC\nreserve: 3D 5H")
    after = played(LAFAYETTE, position, "t1>t2")
    assert after.columns[0] == ()
    assert after.reserve == position.reserve


def test_one_card_is_turned_at_a_time_any_number_of_times() -> None:
    position = draw(LAFAYETTE, "stock: 2C\nwaste: 3C\npass: 9")
    after = played(LAFAYETTE, position, "draw", "redeal", "draw")
    assert (after.stock, after.waste, after.passes) == (("2C",), ("3C",), 10)


def test_won_however_the_suits_are_shared() -> None:
    position = draw(LAFAYETTE, "t1: 7D\nup: C13 S1 H6 D6\ndown: S12 H7 D6")
    assert is_won(LAFAYETTE, played(LAFAYETTE, position, "t1>down"))
    assert is_won(LAFAYETTE, played(LAFAYETTE, position, "t1>up"))
