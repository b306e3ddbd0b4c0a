"""Cards as people type them in a search."""

import pytest

from saratoga_client.input.card_query import cards_matching
from saratoga_rules.cards import PACK


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7h", "7H"),
        ("7 of hearts", "7H"),
        (" 10 D ", "TD"),
        ("10♦", "TD"),
        ("td", "TD"),
        ("Queen of Spades", "QS"),
        ("ace♠", "AS"),
        ("TH", "TH"),
        ("ten hearts", "TH"),
        (" t h ", "TH"),
        ("seven of clubs", "7C"),
        ("sixes", "6C 6S 6H 6D"),
        ("k", "KC KS KH KD"),
        ("kings", "KC KS KH KD"),
        ("10", "TC TS TH TD"),
        ("1", "AC AS AH AD"),
        ("", ""),
        ("of", ""),
        ("11", ""),
        ("7x", ""),
        ("seven of nothing", ""),
        ("7 of hearts please", ""),
        ("hello", ""),
        ("##", ""),
    ],
)
def test_cards_are_found_by_rank_and_suit(text: str, found: str) -> None:
    assert list(cards_matching(text)) == found.split()


@pytest.mark.parametrize("text", ["d", "D", "diamonds", "diamond", "♦", "♢"])
def test_a_suit_finds_its_thirteen_cards(text: str) -> None:
    assert list(cards_matching(text)) == [c for c in PACK if c[1] == "D"]
