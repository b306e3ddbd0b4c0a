from kit.positions import draw
from saratoga_client.plain.card_search import where_lines
from saratoga_rules.cards import parse_cards
from saratoga_rules.game import Game
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.views import redact

BOARD = """
    t1: 9S 8D 7C
    waste: 9H 2C
    reserve: 3D 4H 5D
    up: S3
    base: J
"""


def context(game: Game, picture: str, cards: str) -> list[str]:
    return list(where_lines(game, redact(draw(game, picture)), parse_cards(cards)))


def test_a_card_in_a_column_is_found_with_the_card_above_it() -> None:
    assert context(CANFIELD, BOARD, "9S") == [
        "where 9S: column 1, under 2 cards, directly under 8D"
    ]
    assert context(CANFIELD, BOARD, "7C") == ["where 7C: column 1, on top"]


def test_cards_of_the_waste_are_found_and_hidden_cards_of_the_reserve_are_not() -> None:
    assert context(CANFIELD, BOARD, "9H") == [
        "where 9H: the waste, under 1 card, directly under 2C"
    ]
    assert context(CANFIELD, BOARD, "5D") == ["where 5D: the reserve, on top"]
    assert context(CANFIELD, BOARD + "stock: 2H", "4H") == [
        "where 4H: face down, in the stock or deep in the reserve"
    ]
    assert context(CANFIELD, BOARD, "4H") == ["where 4H: face down, deep in the reserve"]


def test_banked_cards_are_found() -> None:
    assert context(CANFIELD, BOARD, "QS") == ["where QS: banked"]
    assert context(CANFIELD, BOARD, "KS") == ["where KS: banked, on top"]
    assert context(CAPRICE, "down: H2\nstock: QH", "QH") == [
        "where QH: banked down, on top",
        "where QH: another face down, in the stock",
    ]


def test_both_copies_of_a_card_are_found_in_a_game_of_two_packs() -> None:
    assert context(LADY_PALK, "t1: 5C\nup: C6,5", "5C") == [
        "where 5C: column 1, on top",
        "where 5C: banked",
        "where 5C: banked, on top",
    ]
    assert context(LADY_PALK, "stock: 5C", "5C") == ["where 5C: face down, in the stock"]


def test_a_card_that_is_not_seen_may_lie_under_a_column() -> None:
    assert context(KLONDIKE, "t1: 2C | 9D\nstock: 3C", "9D 2C") == [
        "where 9D: column 1, on top",
        "where 2C: face down, in the stock or under a column",
    ]
    assert context(KLONDIKE, "t1: 2C | 9D", "2C") == ["where 2C: face down, under a column"]


def test_all_hidden_cards_share_one_line() -> None:
    assert context(CANFIELD, "t1: KS\nstock: KC KH KD", "KC KS KH KD") == [
        "where KS: column 1, on top",
        "where KC KH KD: face down, in the stock",
    ]
