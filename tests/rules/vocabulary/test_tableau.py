import pytest

from kit.conformance import sampled_positions
from kit.positions import draw
from saratoga_rules.cards import Card
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.moves import COLUMN_NAMES, Carry
from saratoga_rules.piles import Pile
from saratoga_rules.refusals import Refusal
from saratoga_rules.vocabulary.tableau import Columns


def test_an_offer_lists_carries_banks_takers_and_spaces() -> None:
    columns = draw(LAFAYETTE, "t1: 9H 8C\nt3: TS\nt4: 9D").columns
    offer = LAFAYETTE.columns.offer(columns, (), (7, 13, 13, 13), (3, 0, 0, 0), 1)
    assert offer.spaces == ("t2",)
    assert offer.takers == {
        "7H": ("t1",), "7D": ("t1",), "9H": ("t3",), "9D": ("t3",), "8C": ("t4", "up"), "8S": ("t4",),
        "TC": ("down",), "KS": ("down",), "KH": ("down",), "KD": ("down",),
    }  # fmt: skip
    assert {str(carry) for carry in offer.carries} == {"t1>t4", "t1>t2", "t4>t3"}
    assert {str(carry) for carry in offer.banks} == {"t1>up"}


@pytest.mark.parametrize("name", GAMES)
def test_every_carry_among_columns_is_offered_or_has_a_refusal(name: str) -> None:
    rules = GAMES[name].columns
    for position in sampled_positions(name):
        _, _, _, up, down, columns, base, _, _ = position
        counts = position.face_down_counts
        below = counts or (0,) * len(columns)
        names = COLUMN_NAMES[: len(columns)]
        conceivable = [
            Carry(source, target, count)
            for source, column in zip(names, columns, strict=True)
            for target in names
            for count in range(1, len(column) + 1)
        ]
        allowed = [
            move for move in conceivable if rules.refusal(columns, below[move.origin], move) is None
        ]
        offered = rules.offer(columns, counts, up, down, base).carries
        assert sorted(map(str, offered)) == sorted(map(str, allowed))


def test_a_refusal_of_a_card_says_what_it_does_not_fit() -> None:
    (column, space) = draw(LADY_PALK, "t1: 9H").columns[:2]
    judge = LADY_PALK.columns.refusal_of_card
    assert judge(column, Pile.WASTE, Card("8C")) is None
    assert judge(column, Pile.WASTE, Card("7C")) is Refusal.DOES_NOT_BUILD
    assert judge(space, Pile.WASTE, Card("KC")) is None
    assert judge(space, Pile.WASTE, Card("QC")) is Refusal.NOT_INTO_A_SPACE


def test_packets_are_listed_by_size_with_their_first_card() -> None:
    column = draw(LADY_PALK, "t1: 2C 9H 8C 7D").columns[0]
    assert LADY_PALK.columns.packets(column) == {1: "7D", 2: "8C", 3: "9H"}
    assert LADY_PALK.columns.packets(()) == {}


def test_a_whole_column_goes_into_a_space_only_from_face_down_cards() -> None:
    columns, rules = draw(LADY_PALK, "t1: KS QH").columns[:2], LADY_PALK.columns
    whole = Carry("t1", "t2", 2)
    assert rules.refusal(columns, 0, whole) is Refusal.CHANGES_NOTHING
    assert rules.refusal(columns, 1, whole) is None
    assert rules.offer(columns, (), (0,) * 8, (), 1).carries == ()
    assert rules.offer(columns, (1, 0), (0,) * 8, (), 1).carries == (whole,)


def test_the_cache_of_offers_is_not_part_of_the_rule() -> None:
    rules = LADY_PALK.columns
    same = Columns(count=8, build=rules.build, packet=rules.packet, space=rules.space)
    assert same == rules
    assert "offer" not in repr(rules)
