from saratoga_client.plain.card_names import LETTERS, CardNames
from saratoga_rules.cards import Card, parse_cards

WORDS = CardNames(in_words=True)


def test_a_card_is_named_in_two_letters_or_in_words() -> None:
    assert LETTERS.card(Card("TH")) == "TH"
    assert WORDS.card(Card("TH")) == "10 of hearts"
    assert WORDS.card(Card("QS")) == "queen of spades"


def test_cards_are_named_from_the_bottom_of_their_pile() -> None:
    assert LETTERS.cards(parse_cards("KS QH JS")) == "KS QH JS"
    assert WORDS.cards(parse_cards("KS QH")) == "king of spades, queen of hearts"


def test_ranks_and_suits_are_named_in_the_same_form() -> None:
    assert [LETTERS.rank(10), WORDS.rank(10), WORDS.rank(1)] == ["T", "10", "ace"]
    assert [LETTERS.suit("D"), WORDS.suit("D")] == ["D", "diamonds"]
