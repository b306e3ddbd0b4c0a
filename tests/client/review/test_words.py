from saratoga_client.input.move_text import ascii_card_name, card_name
from saratoga_client.tui.pages.findings import in_ascii
from saratoga_rules.cards import PACK


def test_suits_become_letters_in_ascii() -> None:
    for card in PACK:
        assert in_ascii(f"{card_name(card)} banked") == f"{ascii_card_name(card)} banked"
