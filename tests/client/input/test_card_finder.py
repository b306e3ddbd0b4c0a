"""Texts that say where a card lies."""

import pytest

from kit.positions import draw
from saratoga_client.input.card_finder import found_text
from saratoga_client.input.move_text import ascii_card_name
from saratoga_rules.games import GAMES
from saratoga_rules.views import redact

PICTURE = """
    stock: 7D
    waste: 7C 8D
    reserve: 7S 9H
    t1: 7H 6S 5H
    t2: KS
    up: C7
    base: 5
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", "7♣ on the waste under 1; 7♥ in column 1 under 2; 7♣ banked."),
        ("9h", "9♥ on the reserve."),
        ("k", "K♠ in column 2."),
        ("j", "J♣ banked."),
        ("3", "No such card can be seen."),
        ("7d", "No such card can be seen."),
        ("what", "Find a card by rank, suit or both, such as 7, h or 10d."),
    ],
)
def test_the_search_says_where_visible_cards_lie(text: str, expected: str) -> None:
    game = GAMES["canfield"]
    assert found_text(game, redact(draw(game, PICTURE)), text) == expected


def test_of_many_cards_the_first_and_the_number_are_given() -> None:
    game = GAMES["lady-palk"]
    view = redact(draw(game, "\n".join(f"t{n}: 9H 8H 7H" for n in range(1, 9))))
    found = found_text(game, view, "h", ascii_card_name)
    assert found.startswith("24 can be seen: 9h in column 1 under 2; 8h in column 1 under 1; ")
    assert found.endswith("; ..")


def test_with_two_kinds_of_foundations_the_kind_is_named() -> None:
    game = GAMES["lafayette"]
    view = redact(draw(game, "up: S2\ndown: S3"))
    assert found_text(game, view, "as") == "A♠ banked up."
    assert found_text(game, view, "js") == "J♠ banked down."
