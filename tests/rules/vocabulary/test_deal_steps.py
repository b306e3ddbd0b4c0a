import pytest

from saratoga_rules.cards import PACK
from saratoga_rules.vocabulary.deal_steps import (
    AcesAndKings,
    BaseCard,
    DealBuilder,
    ToColumns,
    ToReserve,
    Triangle,
)


def layout(columns: int = 2) -> DealBuilder:
    return DealBuilder(list(PACK), [[] for _ in range(columns)], up=[0] * 8, down=[0] * 4)


def test_the_reserve_takes_cards_from_the_deck_and_its_top_is_the_last() -> None:
    dealt = layout()
    ToReserve(3)(dealt)
    assert dealt.reserve == ["AC", "2C", "3C"]
    assert dealt.deck[0] == "4C"


def test_the_base_card_starts_the_first_of_its_suits_foundations() -> None:
    dealt = layout()
    dealt.take(14)
    BaseCard()(dealt)
    assert (dealt.base, dealt.up) == (2, [0, 0, 1, 0, 0, 0, 0, 0])


def test_rows_go_from_left_to_right() -> None:
    dealt = layout()
    ToColumns(2)(dealt)
    assert dealt.columns == [["AC", "3C"], ["2C", "4C"]]


def test_a_triangle_goes_row_by_row_and_ends_every_column_face_up() -> None:
    dealt = layout(3)
    Triangle()(dealt)
    assert dealt.columns == [["AC"], ["4C"], ["6C"]]
    assert dealt.face_down == [[], ["2C"], ["3C", "5C"]]
    assert dealt.position().face_down == ((), ("2C",), ("3C", "5C"))


def test_a_deal_without_face_down_cards_has_none_for_any_column() -> None:
    dealt = layout()
    ToColumns(2)(dealt)
    assert dealt.position().face_down == ()


def test_aces_and_kings_go_out_wherever_they_are() -> None:
    dealt = layout()
    AcesAndKings()(dealt)
    assert (dealt.up, dealt.down) == ([1, 0] * 4, [1] * 4)
    assert len(dealt.deck) == 44
    assert not {"AC", "KD"} & set(dealt.deck)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (ToReserve(13), "13 cards to the reserve, only the top one known"),
        (BaseCard(), "one card, the base card, to its foundation"),
        (ToColumns(4), "4 face up to each column"),
        (
            Triangle(),
            "one card to the first column, two to the second and so on, only the last face up",
        ),
        (AcesAndKings(), "an ace and a king of each suit to the foundations"),
    ],
)
def test_steps_of_a_deal_print_as_rules(step: object, words: str) -> None:
    assert str(step) == words
