"""Cards, moves, positions, prices, sentences, and the games as they are described."""

from dataclasses import replace

import pytest

from kit.positions import draw
from saratoga_rules.cards import parse_cards
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES, prose
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.money import even_at, net, price
from saratoga_rules.moves import parse_move
from saratoga_rules.piles import Pile
from saratoga_rules.position import format_position, in_order, parse_position
from saratoga_rules.vocabulary.building import Pairing, down, up_or_down
from saratoga_rules.vocabulary.deal_steps import (
    AcesAndKings,
    BaseCard,
    ToColumns,
    ToReserve,
    Triangle,
)
from saratoga_rules.vocabulary.foundations import First, down_from, up_from
from saratoga_rules.vocabulary.stocks import dealt_to_columns, turned
from saratoga_rules.vocabulary.tableau import KINGS, ONE_CARD, Space, only_from

WITH_CORNER = down(Pairing.ALTERNATE_COLOUR, around_the_corner=True)
IN_SUIT = up_or_down(Pairing.SAME_SUIT)

# Cards


@pytest.mark.parametrize("text", ["KSTH", "KS TH", " KS  TH "])
def test_cards_are_read_with_and_without_spaces(text: str) -> None:
    assert parse_cards(text) == ("KS", "TH")


@pytest.mark.parametrize("text", ["K", "KST", "10H", "kS", "1S", "KX", "#K", "T♥"])
def test_a_text_that_is_not_a_card_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="There is no card"):
        parse_cards(text)


# Moves


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Draw",
        "draw ",
        "draw\n",
        "t1",
        "t1>",
        "t0>t1",
        "t01>t1",
        "t1>t100",
        "t1>t2:1",
        "t1>t2:0",
        "t1>t2:02",
        "t1>t2:100",
        "t1>t2:-1",
        "t1>w",
        "t1>r",
        "s>t1",
        "up>t1",
        "up.X>t1",
        "upXS>t1",
        "down.S>t1",
        "t1>up.S",
        "t1 > t2",
        "t1>t2\n",
        "t\u0661>t2",
        "7H>t2",
        "x" * 5000,
    ],
)
def test_a_text_that_is_not_a_move_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="is not a move") as refused:
        parse_move(text)
    assert len(str(refused.value)) < 200


# Position


DRAWN = draw(
    LAFAYETTE,
    """
    stock: 7C 8D
    waste: KH
    reserve: JS 6H
    up: C3 H1
    down: D2
    t1: KS QH
    t3: TD
    pass: 4
    """,
)
TEXT = (
    "stock=7C8D waste=KH reserve=JS6H up=3,0,1,0 down=0,0,0,2 columns=KSQH/-/TD/- base=1 passes=4"
)


def test_a_position_is_written_on_one_line() -> None:
    assert format_position(DRAWN) == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT + " ",
        TEXT.replace("waste=KH ", ""),
        TEXT.replace("KH", "KX"),
        TEXT.replace("KH", ""),
        TEXT.replace("KSQH/-/TD/-", "KSQH//TD/-"),
        *(
            TEXT.replace("TD", column)
            for column in ("|TD", "TD|", "-|TD", "TD|-", "TD||9C", "TD|9C|8C", "|", "-|-")
        ),
        TEXT.replace("waste=KH", "waste=2C|KH"),
        TEXT.replace("3,0,1,0", "14,0,1,0"),
        TEXT.replace("3,0,1,0", "03,0,1,0"),
        TEXT.replace("3,0,1,0", "3,0,1"),
        TEXT.replace("3,0,1,0", "3,0,1,0,0,0,0,1"),
        TEXT.replace("base=1", "base=14"),
        TEXT.replace("base=1", "base=0"),
        TEXT.replace("passes=4", "passes=0"),
        TEXT.replace("passes=4", "passes=\u0664"),
    ],
)
def test_a_text_that_is_not_a_position_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\."):
        parse_position(text)


def test_of_two_foundations_of_a_suit_the_higher_comes_first() -> None:
    assert draw(LADY_PALK, "up: C2,5 H1").up == (5, 2, 0, 0, 1, 0, 0, 0)
    assert in_order((0, 1, 3, 3, 9, 2, 0, 13)) == (1, 0, 3, 3, 9, 2, 13, 0)
    assert in_order(()) == ()


# Money


@pytest.mark.parametrize(
    ("name", "start", "most"),
    [
        ("klondike", -52, 208),
        ("canfield", -45, 210),
        ("canfield-aisleriot", -45, 210),
        ("lafayette", -50, 210),
        ("lady-palk", -100, 420),
        ("caprice", -60, 420),
    ],
)
def test_what_a_game_costs_and_what_it_pays_at_most(name: str, start: int, most: int) -> None:
    game = GAMES[name]
    assert net(game, deal_for_key(game, b"any deal").banked) == start
    assert net(game, game.cards) == most


def test_a_game_names_the_price_of_a_pack() -> None:
    game = replace(GAMES["caprice"], pack_price=52)
    assert price(game) == 104
    assert [net(game, banked) for banked in (8, 20, 21, 104)] == [-64, -4, 1, 416]
    assert even_at(game) == 21


# The words of which games are made


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (WITH_CORNER, "down in alternating colours, around the corner (a king on an ace)"),
        (IN_SUIT, "up or down in suit"),
        (ToReserve(13), "13 cards to the reserve, only the top one known"),
        (BaseCard(), "one card, the base card, to its foundation"),
        (ToColumns(4), "4 face up to each column"),
        (
            Triangle(),
            "one card to the first column, two to the second and so on, only the last face up",
        ),
        (AcesAndKings(), "an ace and a king of each suit to the foundations"),
        (up_from(First.ACE, for_each_suit=2), "8 built up in suit from the ace"),
        (down_from(First.KING), "4 built down in suit from the king"),
        (ONE_CARD, "one card"),
        (Space(admits=KINGS), "a king, with all on it"),
        (
            Space(filled_from=Pile.RESERVE, admits=only_from(Pile.WASTE)),
            "filled at once from the reserve; when that is gone, only the top card of the waste",
        ),
        (turned(3), "3 cards at a time onto the waste, as often as you like"),
        (turned(1, passes=1), "1 card at a time onto the waste, 1 pass"),
        (turned(3, passes=3), "3 cards at a time onto the waste, 3 passes"),
        (dealt_to_columns(), "a card to each column, 1 pass"),
    ],
)
def test_a_word_prints_as_a_rule(rule: object, words: str) -> None:
    assert str(rule) == words


def test_a_building_rule_has_a_brief_form_for_one_line_of_a_screen() -> None:
    assert WITH_CORNER.brief == "down in alternating colours, K on A"
    assert down(Pairing.ANY_SUIT).brief == "down in any suit"
    assert IN_SUIT.brief == "up or down in suit"


def test_foundations_that_give_back_say_so_and_are_single_in_their_suit() -> None:
    assert "may come back, but for the first" in str(up_from(First.BASE_CARD, gives_back=True))
    with pytest.raises(ValueError, match="one foundation"):
        up_from(First.ACE, for_each_suit=2, gives_back=True)


# The description of a game in prose


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_described_in_paragraphs_of_one_line(name: str) -> None:
    paragraphs = prose(GAMES[name])
    assert len(paragraphs) > 1
    assert all(paragraph.endswith(".") and "\n" not in paragraph for paragraph in paragraphs)


# The games: registered, and described from their own words


def test_every_game_is_described() -> None:
    assert dict(CANFIELD.describe()) == {
        "packs": "one, 52 cards",
        "deal": (
            "13 cards to the reserve, only the top one known; one card, the base card, to its"
            " foundation; 1 face up to each column; the rest is the stock"
        ),
        "foundations": (
            "4 built up in suit from the rank of the base card, which the deal turns up,"
            " around the corner (an ace on a king)"
        ),
        "columns": "4, built down in alternating colours, around the corner (a king on an ace)",
        "carried together": "the whole pile, and only as a whole",
        "empty column": (
            "filled at once from the reserve; when that is gone, only the top card of the waste"
        ),
        "stock": "3 cards at a time onto the waste, as often as you like",
        "won with": "52 cards on the foundations",
    }
    assert len({game.describe() for game in GAMES.values()}) == len(GAMES)
