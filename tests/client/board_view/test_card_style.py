"""Styles of cards: by colours, by shapes, and by letters."""

from saratoga_client.board_view.card_style import CardStyle, SuitColours, suit_colours
from saratoga_client.board_view.roles import Role
from saratoga_rules.cards import HIDDEN, PACK, Card
from saratoga_rules.games import GAMES


def test_a_ten_is_two_signs_and_a_suit() -> None:
    ten = Card("TH")
    assert CardStyle().index(ten) == "10♥"
    assert CardStyle(hollow=True).index(ten) == "10♡"
    assert CardStyle(ascii=True).index(ten) == "10h"


def test_letters_and_hollow_signs_tell_all_cards_apart() -> None:
    for style in (CardStyle(), CardStyle(hollow=True), CardStyle(ascii=True)):
        assert len({style.index(card) for card in PACK}) == 52


def test_letters_are_ascii() -> None:
    assert all(CardStyle(ascii=True).index(card).isascii() for card in PACK)


def test_a_hidden_card_shows_nothing_of_itself() -> None:
    assert CardStyle().index(HIDDEN) == "??"


def test_only_caprice_has_four_suit_colours_by_default() -> None:
    assert {name: suit_colours(game).value for name, game in GAMES.items()} == {
        "klondike": "two",
        "canfield": "two",
        "canfield-aisleriot": "two",
        "lafayette": "two",
        "lady-palk": "two",
        "caprice": "four",
    }


def test_of_four_colours_none_is_used_twice() -> None:
    cards = [Card("AS"), Card("AH"), Card("AD"), Card("AC")]
    two, four = CardStyle(), CardStyle(suits=SuitColours.FOUR)
    assert [two.role(card) for card in cards] == [
        Role.CARD_BLACK,
        Role.CARD_RED,
        Role.CARD_RED,
        Role.CARD_BLACK,
    ]
    assert len({four.role(card) for card in cards}) == 4
