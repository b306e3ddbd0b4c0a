import pytest

from saratoga_rules.vocabulary.foundations import (
    First,
    down_from,
    rank_at,
    up_from,
    wanted_cards,
    wanted_down,
    wanted_up,
)


def test_a_new_foundation_wants_its_first_card() -> None:
    assert wanted_up((0, 0, 0, 0), 7) == {"7C": 0, "7S": 1, "7H": 2, "7D": 3}
    assert wanted_down((0, 0, 0, 0)) == {"KC": 0, "KS": 1, "KH": 2, "KD": 3}


def test_built_up_goes_around_the_corner_to_thirteen_cards() -> None:
    assert wanted_up((6, 7, 12, 13), 7) == {"KC": 0, "AS": 1, "6H": 2}


def test_built_down_ends_with_the_ace() -> None:
    assert wanted_down((1, 12, 13, 13)) == {"QC": 0, "AS": 1}


def test_of_two_equal_foundations_the_first_takes_the_card() -> None:
    assert wanted_up((0, 0, 4, 4, 5, 4, 13, 0), 1) == {
        "AC": 0, "5S": 2, "6H": 4, "5H": 5, "AD": 7,
    }  # fmt: skip


def test_all_the_wanted_cards_together() -> None:
    assert wanted_cards((6, 13, 13, 13), 1, (6, 13, 13, 13)) == {"7C"}
    assert wanted_cards((0, 13, 13, 13), 1, (0, 13, 13, 13)) == {"AC", "KC"}


def test_the_rank_at_a_height() -> None:
    assert [rank_at(12, height) for height in (1, 2, 3, 13)] == [12, 13, 1, 11]


def test_foundations_that_give_back_are_single_in_their_suit() -> None:
    with pytest.raises(ValueError, match="one foundation"):
        up_from(First.ACE, for_each_suit=2, gives_back=True)


def test_foundations_print_as_rules() -> None:
    assert str(up_from(First.ACE, for_each_suit=2)) == "8 built up in suit from the ace"
    assert str(down_from(First.KING)) == "4 built down in suit from the king"
    assert "around the corner" in str(up_from(First.BASE_CARD))
    assert "may come back, but for the first" in str(up_from(First.BASE_CARD, gives_back=True))
