from saratoga_client.input.move_text import ascii_card_name, card_name
from saratoga_client.review.words import in_ascii
from saratoga_rules.cards import PACK


def test_cards_are_named_as_where_there_are_letters_only() -> None:
    for card in PACK:
        assert in_ascii(f"{card_name(card)} banked") == f"{ascii_card_name(card)} banked"
