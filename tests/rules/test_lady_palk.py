"""Lady Palk: positions that show its rules one by one."""

from kit.positions import draw, legal, played, refused
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.judge import Refusal, is_won


def test_columns_are_built_down_in_any_suit() -> None:
    position = draw(LADY_PALK, "t1: 8H\nt2: 7H\nt3: 7C\nt4: 9D\nt5: 8H")
    assert {"t2>t1", "t3>t1", "t2>t5", "t3>t5", "t1>t4", "t5>t4"} <= legal(LADY_PALK, position)
    assert refused(LADY_PALK, position, "t2>t3") is Refusal.DOES_NOT_BUILD


def test_nothing_goes_on_an_ace() -> None:
    position = draw(LADY_PALK, "t1: AH\nt2: KS\nt3: 2H\nt4: 5D")
    assert refused(LADY_PALK, position, "t2>t1") is Refusal.DOES_NOT_BUILD


def test_any_run_moves_whole_or_in_part() -> None:
    position = draw(LADY_PALK, "t1: 4C 9H 8H 7H\nt2: TC\nt3: 9S\nt4: 8D")
    assert {"t1>t2:3", "t1>t3:2", "t1>t4"} <= legal(LADY_PALK, position)
    assert refused(LADY_PALK, position, "t1>t2:4") is Refusal.NOT_A_PACKET
    assert played(LADY_PALK, position, "t1>t2:3").columns[:2] == (("4C",), ("TC", "9H", "8H", "7H"))


def test_only_kings_and_runs_headed_by_one_go_into_a_space() -> None:
    position = draw(LADY_PALK, "t1: 4C KH QS\nt2: 3C KD\nt3: QD\nt4: KS QH\nt5: 2C JS\nwaste: KC")
    assert {move for move in legal(LADY_PALK, position) if ">t8" in move} == {
        "t1>t8:2", "t2>t8", "w>t8",
    }  # fmt: skip
    assert refused(LADY_PALK, position, "t5>t8") is Refusal.NOT_INTO_A_SPACE
    assert refused(LADY_PALK, position, "t1>t8") is Refusal.NOT_INTO_A_SPACE
    assert refused(LADY_PALK, position, "t3>t8") is Refusal.CHANGES_NOTHING


def test_a_king_that_heads_a_whole_column_does_not_change_its_space() -> None:
    position = draw(LADY_PALK, "t4: KS QH")
    assert refused(LADY_PALK, position, "t4>t8:2") is Refusal.CHANGES_NOTHING


def test_spaces_are_not_filled_automatically() -> None:
    after = played(LADY_PALK, draw(LADY_PALK, "t1: 9H\nt2: TC\nstock: KD\nwaste: KC"), "t1>t2")
    assert after.columns[0] == ()


def test_two_equal_foundations_are_interchangeable() -> None:
    position = draw(LADY_PALK, "t1: 5S\nt2: 5S\nt3: 6S\nup: S4,4")
    once = played(LADY_PALK, position, "t1>up")
    assert once.up[2:4] == (5, 4)
    assert played(LADY_PALK, once, "t3>up").up[2:4] == (6, 4)
    assert played(LADY_PALK, once, "t2>up").up[2:4] == (5, 5)


def test_the_lower_of_a_suits_foundations_takes_its_card_too() -> None:
    position = draw(LADY_PALK, "t1: 3S\nt2: 6S\nt3: 5S\nup: S5,2")
    assert played(LADY_PALK, position, "t1>up").up[2:4] == (5, 3)
    assert played(LADY_PALK, position, "t2>up").up[2:4] == (6, 2)
    assert refused(LADY_PALK, position, "t3>up") is Refusal.FOUNDATION_WAITS


def test_positions_that_differ_in_equal_foundations_only_are_one() -> None:
    position = draw(LADY_PALK, "t1: 3S\nt2: 3S\nup: S2,2")
    assert (
        played(LADY_PALK, position, "t1>up")._replace(columns=())
        == played(LADY_PALK, position, "t2>up")._replace(columns=())
    )  # fmt: skip


def test_there_is_no_redeal() -> None:
    assert refused(LADY_PALK, draw(LADY_PALK, "waste: 3C"), "redeal") is Refusal.NO_REDEALS
    assert refused(LADY_PALK, draw(LADY_PALK, "stock: 3C"), "redeal") is Refusal.NO_REDEALS
    assert legal(LADY_PALK, draw(LADY_PALK, "waste: 3C")) == set()


def test_drawing_is_allowed_while_other_moves_remain() -> None:
    assert {"draw", "t2>t1"} <= legal(LADY_PALK, draw(LADY_PALK, "t1: 3C\nt2: 2C\nstock: 9C"))


def test_nothing_comes_back_from_a_foundation() -> None:
    position = draw(LADY_PALK, "t1: 7H\nup: S6,2")
    assert refused(LADY_PALK, position, "up.S>t1") is Refusal.NOT_FROM_FOUNDATIONS


def test_won_with_104_cards_on_the_foundations() -> None:
    position = draw(LADY_PALK, "waste: KD\nup: C13,13 S13,13 H13,13 D13,12")
    assert is_won(LADY_PALK, played(LADY_PALK, position, "w>up"))
