"""Canfield by AisleRiot's help: positions that show the differences to Canfield."""

import pytest

from kit.positions import draw, legal, played, refused
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT as GAME
from saratoga_rules.judge import Refusal


def test_any_part_of_a_run_moves() -> None:
    position = draw(GAME, "t1: 9H 8C 7D\nt2: TC\nt3: 8S\nt4: 9D\nreserve: 2H\nbase: 5")
    assert {"t1>t2:3", "t1>t4:2", "t1>t3"} <= legal(GAME, position)
    assert played(GAME, position, "t1>t4:2").columns == (
        ("9H",),
        ("TC",),
        ("8S",),
        ("9D", "8C", "7D"),
    )


def test_cards_that_are_no_run_do_not_move_together() -> None:
    position = draw(GAME, "t1: 9H 2C 7D\nt2: TC\nreserve: 2H\nt3: 3D")
    assert refused(GAME, position, "t1>t2:3") is Refusal.NOT_A_PACKET
    assert refused(GAME, position, "t1>t3:2") is Refusal.NOT_A_PACKET


def test_with_an_empty_reserve_anything_goes_into_a_space() -> None:
    position = draw(GAME, "t1: 9H 8C 7D\nt2: TC\nt4: 2S\nwaste: 5H\nup: S7\nbase: 5")
    into_the_space = {move for move in legal(GAME, position) if ">t3" in move}
    assert into_the_space == {"t1>t3", "t1>t3:2", "w>t3", "up.S>t3"}
    assert refused(GAME, position, "t1>t3:3") is Refusal.CHANGES_NOTHING
    assert refused(GAME, position, "t2>t3") is Refusal.CHANGES_NOTHING


def test_a_foundations_top_card_comes_back_where_it_fits() -> None:
    position = draw(GAME, "t1: 8H\nt2: 9H\nt3: 8C\nt4: 2S\nreserve: 3H\nup: S3\nbase: 5")
    assert refused(GAME, position, "up.S>t1") is None
    assert refused(GAME, position, "up.S>t2") is Refusal.DOES_NOT_BUILD
    assert refused(GAME, position, "up.S>t3") is Refusal.DOES_NOT_BUILD
    after = played(GAME, position, "up.S>t1")
    assert after.columns[0] == ("8H", "7S")
    assert after.banked == position.banked - 1
    assert played(GAME, after, "t1>up") == position


def test_a_card_comes_back_around_the_corner() -> None:
    position = draw(GAME, "t1: AH\nt2: 4H\nt3: 8C\nt4: 2S\nreserve: 3H\nup: S3\nbase: J")
    assert refused(GAME, position, "up.S>t1") is None  # the king of spades on the ace of hearts
    assert played(GAME, position, "up.S>t1").columns[0] == ("AH", "KS")


@pytest.mark.parametrize("target", ["t1", "t2"])
def test_a_base_card_never_comes_back_not_even_into_a_space(target: str) -> None:
    position = draw(GAME, "t1: 6H\nup: S1\nbase: 5")
    assert refused(GAME, position, f"up.S>{target}") is Refusal.FIRST_CARD_STAYS


def test_nothing_comes_back_from_an_empty_foundation() -> None:
    position = draw(GAME, "t1: 6H\nup: S1\nbase: 5")
    assert refused(GAME, position, "up.C>t1") is Refusal.NOTHING_TO_CARRY


@pytest.mark.parametrize("target", ["up", "down"])
def test_no_card_goes_from_foundation_to_foundation(target: str) -> None:
    position = draw(GAME, "t1: 6H\nup: S3\nbase: 5")
    assert refused(GAME, position, f"up.S>{target}") is Refusal.ONLY_INTO_COLUMNS


def test_only_one_card_comes_back_at_a_time_and_only_into_columns_that_exist() -> None:
    position = draw(GAME, "t1: 8H\nup: S3\nbase: 5")
    assert refused(GAME, position, "up.S>t1:2") is Refusal.ONE_AT_A_TIME
    assert refused(GAME, position, "up.S>t5") is Refusal.NO_SUCH_PILE


def test_the_reserve_fills_a_space_while_it_lasts() -> None:
    position = draw(GAME, "t1: 9H 8C\nt2: TC\nt3: 8S\nt4: 2D\nreserve: 3H KD")
    after = played(GAME, position, "t1>t2:2")
    assert after.columns[0] == ("KD",)
    assert after.reserve == ("3H",)


def test_there_are_two_redeals_and_the_third_is_refused() -> None:
    position = draw(GAME, "waste: 2C 3C 4C")
    third_pass = played(GAME, position, "redeal", "draw", "redeal", "draw")
    assert third_pass.passes == 3
    assert refused(GAME, third_pass, "redeal") is Refusal.NO_REDEAL_LEFT
    assert legal(GAME, third_pass) == {"w>t1", "w>t2", "w>t3", "w>t4"}


def test_34_cards_untouched_are_38_turns_of_the_stock() -> None:
    cards = (
        "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AH 2H 3H 4H 5H"
    )
    position = draw(GAME, f"stock: {cards} 6H 7H 8H 9H\nt1: AD\nbase: A")
    turns = 0
    while {"draw", "redeal"} & legal(GAME, position):
        position = played(GAME, position, "draw" if position.stock else "redeal")
        turns += 1
    assert turns == 12 + 1 + 12 + 1 + 12
