import pytest

from saratoga_client.lines.tongue import LETTERS, Tongue, counted, pile_name
from saratoga_rules.cards import Card, parse_cards
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.caprice import CAPRICE

WORDS = Tongue(in_words=True)


def test_a_card_is_said_in_two_letters_or_in_words() -> None:
    assert LETTERS.card(Card("TH")) == "TH"
    assert WORDS.card(Card("TH")) == "10 of hearts"
    assert WORDS.card(Card("QS")) == "queen of spades"


def test_cards_are_said_from_the_bottom_of_their_pile() -> None:
    assert LETTERS.cards(parse_cards("KS QH JS")) == "KS QH JS"
    assert WORDS.cards(parse_cards("KS QH")) == "king of spades, queen of hearts"


def test_ranks_and_suits_are_said_likewise() -> None:
    assert [LETTERS.rank(10), WORDS.rank(10), WORDS.rank(1)] == ["T", "10", "ace"]
    assert [LETTERS.suit("D"), WORDS.suit("D")] == ["D", "diamonds"]


@pytest.mark.parametrize(
    ("pile", "name"),
    [
        ("t3", "column 3"),
        ("t12", "column 12"),
        ("w", "the waste"),
        ("r", "the reserve"),
        ("up.S", "the foundation of spades"),
    ],
)
def test_a_pile_of_a_move_has_a_name(pile: str, name: str) -> None:
    assert pile_name(CANFIELD, pile) == name


def test_up_and_down_are_told_apart_where_there_are_both() -> None:
    assert pile_name(CANFIELD, "up") == "the foundation"
    assert pile_name(CAPRICE, "up") == "the up foundation"
    assert pile_name(CAPRICE, "down") == "the down foundation"


def test_numbers_go_with_their_nouns() -> None:
    assert [counted(1), counted(0), counted(2, "pass")] == ["1 card", "0 cards", "2 passes"]
