import pytest

from saratoga_rules.cards import HIDDEN, PACK, Card, parse_cards
from saratoga_rules.vocabulary.building import Build, Pairing, down, up_or_down


def laid(text: str) -> tuple[Card, Card]:
    lower, card = parse_cards(text)
    return lower, card


@pytest.mark.parametrize(("cards", "fits"), [("8C 7H", True), ("8C 7S", False), ("8C 9H", False)])
def test_alternating_colours_go_down_one_rank_in_the_other_colour(cards: str, fits: bool) -> None:
    assert down(Pairing.ALTERNATE_COLOUR)(*laid(cards)) is fits


def test_around_the_corner_a_king_follows_an_ace() -> None:
    cards = laid("AH KS")
    assert down(Pairing.ALTERNATE_COLOUR, around_the_corner=True)(*cards)
    assert not down(Pairing.ALTERNATE_COLOUR)(*cards)
    assert not down(Pairing.ALTERNATE_COLOUR, around_the_corner=True)(*laid("KS AH"))


def test_up_or_down_goes_both_ways_and_never_around_the_corner() -> None:
    building = up_or_down(Pairing.SAME_SUIT)
    assert building(*laid("5S 6S"))
    assert building(*laid("6S 5S"))
    assert not building(*laid("5S 5S"))
    assert not building(*laid("5S 6C"))
    assert not building(*laid("KS AS"))
    assert not building(*laid("AS KS"))


def test_any_suit_goes_on_any_suit() -> None:
    assert down(Pairing.ANY_SUIT).onto[Card("8C")] == set(parse_cards("7C 7S 7H 7D"))


def test_nothing_is_laid_on_a_hidden_card_and_it_is_laid_on_nothing() -> None:
    building = down(Pairing.ANY_SUIT, around_the_corner=True)
    assert not any(building(HIDDEN, card) or building(card, HIDDEN) for card in PACK)
    assert building.under[HIDDEN] == frozenset()


@pytest.mark.parametrize(
    "building",
    [
        down(Pairing.ALTERNATE_COLOUR, around_the_corner=True),
        down(Pairing.ANY_SUIT),
        up_or_down(Pairing.SAME_SUIT),
    ],
)
def test_what_lies_under_a_card_is_what_it_may_be_laid_on(building: Build) -> None:
    for card in PACK:
        assert building.under[card] == {lower for lower in PACK if building(lower, card)}


@pytest.mark.parametrize(
    ("column", "length"),
    [("", 0), ("9H", 1), ("9H 8H", 1), ("9H 8C", 2), ("2C 9H 8C 7D", 3), ("9H 8C 2C 7D 6S", 2)],
)
def test_a_run_is_counted_from_the_end_of_a_column(column: str, length: int) -> None:
    assert down(Pairing.ALTERNATE_COLOUR).run(parse_cards(column)) == length


def test_words_of_the_same_rule_are_equal_and_print_alike() -> None:
    assert down(Pairing.SAME_SUIT) == down(Pairing.SAME_SUIT) != down(Pairing.ANY_SUIT)
    assert len({down(Pairing.SAME_SUIT), down(Pairing.SAME_SUIT)}) == 1
    assert str(down(Pairing.ALTERNATE_COLOUR, around_the_corner=True)) == (
        "down in alternating colours, around the corner (a king on an ace)"
    )
    assert str(up_or_down(Pairing.SAME_SUIT)) == "up or down in suit"
    assert "onto" not in repr(down(Pairing.SAME_SUIT))


def test_a_building_rule_has_a_brief_form_for_one_line_of_a_screen() -> None:
    corner = down(Pairing.ALTERNATE_COLOUR, around_the_corner=True)
    assert corner.brief == "down in alternating colours, K on A"
    assert down(Pairing.ANY_SUIT).brief == "down in any suit"
    assert up_or_down(Pairing.SAME_SUIT).brief == "up or down in suit"
