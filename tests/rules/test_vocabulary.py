"""The words of which games are made: what each allows, and how each is said."""

import pytest

from saratoga_rules.cards import HIDDEN, PACK, parse_cards
from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.building import Build, Pairing, down, up_or_down
from saratoga_rules.vocabulary.deal_steps import (
    AcesAndKings,
    BaseCard,
    DealBuilder,
    ToColumns,
    ToReserve,
    Triangle,
)
from saratoga_rules.vocabulary.foundations import (
    First,
    down_from,
    up_from,
    wanted_cards,
    wanted_down,
    wanted_up,
)
from saratoga_rules.vocabulary.stocks import dealt_to_columns, turned
from saratoga_rules.vocabulary.tableau import (
    ANY_RUN,
    KINGS,
    ONE_CARD,
    WHOLE_PILE,
    Packet,
    Space,
    only_from,
)

IN_COLOURS = down(Pairing.ALTERNATE_COLOUR)
WITH_CORNER = down(Pairing.ALTERNATE_COLOUR, around_the_corner=True)
IN_SUIT = up_or_down(Pairing.SAME_SUIT)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (WITH_CORNER, "down in alternating colours, around the corner (a king on an ace)"),
        (IN_SUIT, "up or down in suit"),
        (ToReserve(13), "13 cards to the reserve, only the top one known"),
        (BaseCard(), "one card, the base card, to its foundation"),
        (ToColumns(4), "4 face up to each column"),
        (
            Triangle(),
            "one card to the first column, two to the second and so on, only the last face up",
        ),
        (AcesAndKings(), "an ace and a king of each suit to the foundations"),
        (up_from(First.ACE, for_each_suit=2), "8 built up in suit from the ace"),
        (down_from(First.KING), "4 built down in suit from the king"),
        (ONE_CARD, "one card"),
        (Space(admits=KINGS), "a king, or a packet headed by one"),
        (
            Space(filled_from=Pile.RESERVE, admits=only_from(Pile.WASTE)),
            "filled at once from the reserve; when that is gone, only the top card of the waste",
        ),
        (turned(3), "3 cards at a time onto the waste, as often as you like"),
        (turned(1, passes=1), "1 card at a time onto the waste, 1 pass"),
        (turned(3, passes=3), "3 cards at a time onto the waste, 3 passes"),
        (dealt_to_columns(), "a card to each column, 1 pass"),
    ],
)
def test_a_word_prints_as_a_rule(rule: object, words: str) -> None:
    assert str(rule) == words


def test_a_building_rule_has_a_brief_form_for_one_line_of_a_screen() -> None:
    assert WITH_CORNER.brief == "down in alternating colours, K on A"
    assert down(Pairing.ANY_SUIT).brief == "down in any suit"
    assert IN_SUIT.brief == "up or down in suit"


def test_foundations_that_give_back_say_so_and_are_single_in_their_suit() -> None:
    assert "may come back, but for the first" in str(up_from(First.BASE_CARD, gives_back=True))
    with pytest.raises(ValueError, match="one foundation"):
        up_from(First.ACE, for_each_suit=2, gives_back=True)


# Building


@pytest.mark.parametrize(
    ("building", "fitting", "others"),
    [
        (IN_COLOURS, "8C7H", "8C7S 8C9H AHKS"),
        (WITH_CORNER, "AHKS", "KSAH"),
        (IN_SUIT, "5S6S 6S5S", "5S5S 5S6C KSAS ASKS"),
        (down(Pairing.ANY_SUIT), "8C7C 8C7S 8C7H 8C7D", "8C9C"),
    ],
)
def test_a_card_is_laid_on_what_the_rule_says(building: Build, fitting: str, others: str) -> None:
    def fits(pair: str) -> bool:
        lower, card = parse_cards(pair)
        return card in building.onto[lower]

    assert all(map(fits, fitting.split()))
    assert not any(map(fits, others.split()))
    assert building.onto[HIDDEN] == building.under[HIDDEN] == frozenset()
    for card in PACK:
        assert HIDDEN not in building.onto[card]
        assert building.under[card] == {lower for lower in PACK if card in building.onto[lower]}


@pytest.mark.parametrize(
    ("column", "length"),
    [("", 0), ("9H", 1), ("9H 8H", 1), ("9H 8C", 2), ("2C 9H 8C 7D", 3), ("9H 8C 2C 7D 6S", 2)],
)
def test_a_run_is_counted_from_the_end_of_a_column(column: str, length: int) -> None:
    assert IN_COLOURS.run(parse_cards(column)) == length


@pytest.mark.parametrize(
    ("packet", "column", "sizes"),
    [
        (ONE_CARD, "9H 8C 7D", [1]),
        (WHOLE_PILE, "9H", [1]),
        (WHOLE_PILE, "9H 8C 7D", [3]),
        (ANY_RUN, "2S 9H 8C 7D", [1, 2, 3]),
        (ANY_RUN, "9H 8C 7C", [1]),
        *((packet, "", []) for packet in (ONE_CARD, WHOLE_PILE, ANY_RUN)),
    ],
)
def test_the_numbers_of_cards_that_may_be_lifted(
    packet: Packet, column: str, sizes: list[int]
) -> None:
    cards = parse_cards(column)
    assert list(packet.sizes(cards, IN_COLOURS)) == sizes
    counts = range(1, len(cards) + 1)
    assert [count for count in counts if packet.allows(cards, count, IN_COLOURS)] == sizes


# Deals and foundations


def test_a_triangle_goes_row_by_row_and_ends_every_column_face_up() -> None:
    dealt = DealBuilder(list(PACK), [[] for _ in range(3)], up=[0] * 8, down=[0] * 4)
    Triangle()(dealt)
    assert dealt.columns == [["AC"], ["4C"], ["6C"]]
    assert dealt.position().face_down == ((), ("2C",), ("3C", "5C"))


def test_foundations_want_their_next_cards() -> None:
    assert wanted_up((0, 0, 0, 0), 7) == {"7C": 0, "7S": 1, "7H": 2, "7D": 3}
    assert wanted_up((6, 7, 12, 13), 7) == {"KC": 0, "AS": 1, "6H": 2}
    assert wanted_down((1, 12, 13, 0)) == {"QC": 0, "AS": 1, "KD": 3}
    # of two equal foundations the first takes the card
    assert wanted_up((0, 0, 4, 4, 5, 4, 13, 0), 1) == {
        "AC": 0, "5S": 2, "6H": 4, "5H": 5, "AD": 7,
    }  # fmt: skip
    assert wanted_cards((6, 13, 13, 13), 1, (6, 13, 13, 13)) == {"7C"}
    assert wanted_cards((0, 13, 13, 13), 1, (0, 13, 13, 13)) == {"AC", "KC"}
