"""Klondike: positions that show its face-down cards, its spaces and its take-backs."""

import pytest

from kit.conformance import played_games
from kit.masked_cards import with_masked_columns
from kit.positions import draw, legal, played, refused
from saratoga_rules.cards import PACK
from saratoga_rules.dealing.deal import deal
from saratoga_rules.games.klondike import KLONDIKE as GAME
from saratoga_rules.judge import Refusal, is_won
from saratoga_rules.money import even_at, net
from saratoga_rules.position import parse_position
from saratoga_rules.stuck.stuck import is_stuck, may_declare
from saratoga_rules.views import redact

DRAWN = """
stock=- waste=- up=0,0,0,0 columns=9H|8S/TS/9D/2S/4C/6C/QC passes=1 -> t1>t3 t3>t2; not stuck
stock=- waste=- up=0,0,0,0 columns=4D|KS/KH/-/2C/4C/6C/8C passes=3 -> t1>t3; not stuck
stock=- waste=KD up=0,0,0,0 columns=5D|QSJH/-/9C/2C/4C/6C/8C passes=3 -> w>t2; not stuck
stock=- waste=- up=0,0,0,0 columns=9D|8S7H6C/8C/7D/2S/4S/TS/QS passes=3 -> t1>t2:2 t1>t3 t3>t2; stuck
stock=- waste=- up=0,0,0,0 columns=AS|AH/2H/4C/6C/8C/TC/QC passes=3 -> t1>up; not stuck
stock=- waste=- up=2,1,3,0 columns=4S/2D/6C/8C/TC/QC/KC passes=3 -> up.H>t1; stuck
stock=- waste=- up=13,12,0,0 columns=-/KH/2D/4D/6D/8D/TD passes=3 -> up.C>t1 up.S>t2; stuck
stock=5H9C waste=3S up=0,0,0,0 columns=2S/4C/6C/8C/TC/QC/KC passes=2 -> draw; stuck
stock=- waste=3S5H9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=2 -> redeal; stuck
stock=- waste=3S5H9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=3 -> none; stuck
stock=4H waste=9C up=0,0,0,0 columns=2S/4C/7C/8C/TC/QC/KC passes=1 -> draw; stuck
stock=6CAS9C3C5C waste=2H up=0,0,0,0 columns=2S/4S/6S/8S/TS/QS/KS passes=2 -> draw; not stuck
stock=6CAS9C3C5C waste=2H up=0,0,0,0 columns=2S/4S/6S/8S/TS/QS/KS passes=3 -> draw; stuck
stock=- waste=AD5C up=0,0,0,0 columns=6H/2S/4S/8S/TS/QS/KS passes=3 -> w>t1; not stuck
stock=- waste=- up=0,3,7,0 columns=2C|6S/8C/TC/QC/KC/TS/QS passes=3 -> up.H>t2; not stuck
stock=- waste=KH up=0,0,0,0 columns=QD/KC/2S/4S/6S/8S/TS passes=3 -> t1>t2; not stuck
"""
"""Positions, each with every legal move and the verdict; they are numbered from 1 in the tests."""

CASES = DRAWN.strip().splitlines()
POSITIONS = {
    number: parse_position(
        line.split(" -> ")[0].replace(" up=", " reserve=- up=").replace(" columns", " down=- columns")
        .replace(" passes", " base=1 passes")
    )
    for number, line in enumerate(CASES, 1)
}  # fmt: skip


@pytest.mark.parametrize("number", POSITIONS)
def test_the_legal_moves_of_a_drawn_position_are_all_and_only_these(number: int) -> None:
    moves = CASES[number - 1].split(" -> ")[1].split(";")[0]
    expected = set() if moves == "none" else set(moves.split())
    assert legal(GAME, POSITIONS[number]) == expected
    assert legal(GAME, redact(POSITIONS[number])) == expected


@pytest.mark.parametrize("number", POSITIONS)
def test_a_drawn_position_is_stuck_or_not(number: int) -> None:
    expected = not CASES[number - 1].endswith("not stuck")
    assert is_stuck(GAME, POSITIONS[number]) is expected
    assert is_stuck(GAME, with_masked_columns(POSITIONS[number])) is expected


def test_the_triangle_is_dealt_row_by_row_and_the_stock_after_it() -> None:
    position = deal(GAME, PACK)
    columns = [(0,), (1, 7), (2, 8, 13), (3, 9, 14, 18), (4, 10, 15, 19, 22)]
    columns += [(5, 11, 16, 20, 23, 25), (6, 12, 17, 21, 24, 26, 27)]
    assert position.columns == tuple((PACK[places[-1]],) for places in columns)
    assert position.face_down == tuple(
        tuple(PACK[place] for place in places[:-1]) for places in columns
    )
    assert position.stock == PACK[28:]
    assert (position.waste, position.banked) == ((), 0)


def test_a_face_down_card_that_would_continue_a_run_is_not_carried() -> None:
    assert refused(GAME, POSITIONS[1], "t1>t2:2") is Refusal.NOT_A_PACKET
    assert refused(GAME, redact(POSITIONS[1]), "t1>t2:2") is Refusal.NOT_A_PACKET


def test_a_king_leaves_face_down_cards_for_a_space_but_does_not_move_from_a_bottom() -> None:
    assert refused(GAME, POSITIONS[2], "t2>t3") is Refusal.CHANGES_NOTHING
    assert played(GAME, POSITIONS[2], "t1>t3").columns[:3] == (("4D",), ("KH",), ("KS",))


def test_a_run_moves_onto_a_king_and_no_queen_into_a_space() -> None:
    assert refused(GAME, POSITIONS[3], "t1>t2:2") is Refusal.NOT_INTO_A_SPACE
    after = played(GAME, POSITIONS[3], "w>t2", "t1>t2:2")
    assert after.columns[:2] == (("5D",), ("KD", "QS", "JH"))
    assert after.face_down == ()


def test_an_ace_that_turns_up_waits_to_be_played() -> None:
    after = played(GAME, POSITIONS[5], "t1>up")
    assert after.columns[0] == ("AS",)
    assert legal(GAME, after) == {"t1>t2", "t1>up", "t2>up"}


def test_an_ace_never_comes_back() -> None:
    assert refused(GAME, POSITIONS[6], "up.S>t2") is Refusal.FIRST_CARD_STAYS


def test_a_king_comes_back_into_a_space_and_a_queen_does_not() -> None:
    assert refused(GAME, POSITIONS[7], "up.S>t1") is Refusal.NOT_INTO_A_SPACE
    assert played(GAME, POSITIONS[7], "up.C>t1").columns[0] == ("KC",)


def test_a_short_packet_is_drawn_as_it_is() -> None:
    assert played(GAME, POSITIONS[8], "draw").waste == ("3S", "5H", "9C")


def test_a_redeal_turns_the_waste_over_and_begins_a_pass() -> None:
    after = played(GAME, POSITIONS[9], "redeal")
    assert (after.stock, after.waste, after.passes) == (("3S", "5H", "9C"), (), 3)


def test_there_are_three_passes() -> None:
    assert refused(GAME, POSITIONS[10], "redeal") is Refusal.NO_REDEAL_LEFT


def test_a_stuck_board_is_not_declared_before_its_stock_was_seen() -> None:
    assert not may_declare(POSITIONS[11])
    assert may_declare(POSITIONS[13])


def test_a_card_that_comes_back_costs_five_dollars_and_may_turn_a_card_up() -> None:
    position = POSITIONS[15]
    back = played(GAME, position, "up.H>t2")
    assert [net(GAME, each.banked) for each in (position, back)] == [-2, -7]
    turned = played(GAME, back, "t1>t2")
    assert (turned.columns[0], turned.columns[1]) == (("2C",), ("8C", "7H", "6S"))


def test_a_move_that_makes_a_space_for_a_waiting_king_is_no_end() -> None:
    after = played(GAME, POSITIONS[16], "t1>t2", "w>t1")
    assert after.columns[:2] == (("KH",), ("KC", "QD"))


def test_the_pack_costs_52_dollars_and_eleven_cards_make_three() -> None:
    assert [net(GAME, banked) for banked in (0, 10, 11, 52)] == [-52, -2, 3, 208]
    assert even_at(GAME) == 11


def test_columns_have_no_corner_and_alternate_in_colour() -> None:
    position = draw(GAME, "t1: AH\nt2: KS\nt3: QS\nt4: QD\nt5: 9C\nt6: TD")
    assert legal(GAME, position) == {"t1>up", "t4>t2", "t5>t6"}


def test_a_game_is_won_with_all_cards_banked() -> None:
    position = draw(GAME, "t3: KD\nup: C13 S13 H13 D12")
    assert is_won(GAME, played(GAME, position, "t3>up"))
    assert sum(each.won for each in played_games("klondike")) == 5
