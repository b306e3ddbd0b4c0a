"""Caprice: positions that show its rules one by one."""

import pytest

from kit.positions import draw, legal, played, refused
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.judge import Refusal, is_won
from saratoga_rules.position import Position

FULL = "\n".join(f"t{number}: 2C" for number in range(1, 13))


def test_columns_are_built_up_or_down_in_suit() -> None:
    position = draw(CAPRICE, "t1: 5S\nt2: 6S\nt3: 4S\nt4: 6C\nt5: 5S")
    assert {"t2>t1", "t3>t1", "t1>t2", "t1>t3"} <= legal(CAPRICE, position)
    assert refused(CAPRICE, position, "t4>t1") is Refusal.DOES_NOT_BUILD
    assert refused(CAPRICE, position, "t5>t1") is Refusal.DOES_NOT_BUILD


def test_the_direction_may_change_at_any_card() -> None:
    position = draw(CAPRICE, "t1: 5S\nt2: 6S\nt3: 5S")
    assert played(CAPRICE, position, "t2>t1", "t3>t1").columns[0] == ("5S", "6S", "5S")


def test_kings_and_aces_do_not_meet() -> None:
    position = draw(CAPRICE, "t1: KS\nt2: AS")
    assert refused(CAPRICE, position, "t1>t2") is Refusal.DOES_NOT_BUILD
    assert refused(CAPRICE, position, "t2>t1") is Refusal.DOES_NOT_BUILD


def test_cards_move_one_at_a_time() -> None:
    position = draw(CAPRICE, "t1: 9S 8S\nt2: TS\nt3: 7S")
    assert refused(CAPRICE, position, "t1>t2:2") is Refusal.NOT_A_PACKET
    assert refused(CAPRICE, position, "t1>t3") is None


def test_a_card_that_fits_both_foundations_goes_where_its_player_says() -> None:
    position = draw(CAPRICE, "t1: 7D\nup: D6\ndown: D6")
    assert {"t1>up", "t1>down"} <= legal(CAPRICE, position)
    assert played(CAPRICE, position, "t1>down").down[3] == 7


def test_a_draw_deals_a_card_to_each_column_from_the_left() -> None:
    stock = "3C 4C 5C 6C 7C 8C 9C TC JC QC AS 2S 3S"
    after = played(CAPRICE, draw(CAPRICE, f"{FULL}\nstock: {stock}"), "draw")
    assert [column[-1] for column in after.columns] == stock.split()[:12]
    assert after.stock == ("3S",)
    assert after.waste == ()


def test_a_short_deal_goes_as_far_as_it_goes() -> None:
    after = played(CAPRICE, draw(CAPRICE, f"{FULL}\nstock: 3C 4C"), "draw")
    assert [len(column) for column in after.columns] == [2, 2] + [1] * 10
    assert after.stock == ()


def test_84_cards_are_seven_full_deals() -> None:
    position = deal_for_key(CAPRICE, b"seven times twelve")
    for _ in range(7):
        position = played(CAPRICE, position, "draw")
    assert position.stock == ()
    assert {len(column) for column in position.columns} == {8}
    assert refused(CAPRICE, position, "draw") is Refusal.STOCK_IS_EMPTY
    assert refused(CAPRICE, position, "redeal") is Refusal.NO_REDEALS


def test_the_stock_fills_a_space_as_part_of_the_move() -> None:
    position = draw(CAPRICE, f"{FULL}\nstock: 9H 9D".replace("t3: 2C", "t3: 3C"))
    after = played(CAPRICE, position, "t3>t1")
    assert after.columns[2] == ("9H",)
    assert after.stock == ("9D",)
    assert after.passes == 1


def test_the_stock_fills_the_space_that_a_card_gone_up_left() -> None:
    position = draw(CAPRICE, f"{FULL}\nstock: 9H\nup: C1")
    after = played(CAPRICE, position, "t12>up")
    assert after.columns[11] == ("9H",)
    assert after.stock == ()


def test_without_a_stock_a_space_takes_any_one_card() -> None:
    position = draw(CAPRICE, "t1: 9S 8S\nt2: TD")
    assert refused(CAPRICE, position, "t1>t3") is None
    assert refused(CAPRICE, position, "t2>t3") is Refusal.CHANGES_NOTHING
    assert refused(CAPRICE, position, "t1>t3:2") is Refusal.CHANGES_NOTHING


@pytest.mark.parametrize("move", ["up.S>t1", "up.S>down", "w>t1", "r>t1", "r>up"])
def test_nothing_comes_from_foundations_and_there_is_no_waste_and_no_reserve(move: str) -> None:
    position = draw(CAPRICE, "t1: 7S\nup: S6\ndown: S6")
    assert refused(CAPRICE, position, move) in {
        Refusal.NOT_FROM_FOUNDATIONS,
        Refusal.NOTHING_TO_CARRY,
    }


def test_won_with_104_cards_on_the_foundations() -> None:
    position = _all_but_one(CAPRICE)
    assert not is_won(CAPRICE, position)
    assert is_won(CAPRICE, played(CAPRICE, position, "t1>down"))


def _all_but_one(game: Game) -> Position:
    return draw(game, "t1: AD\nup: C13 S13 H13 D13\ndown: C13 S13 H13 D12")
