import pytest

from kit.conformance import played_games
from kit.positions import draw
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE
from saratoga_rules.position import Position, format_position, in_order, parse_position
from saratoga_rules.views import redact

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


def test_a_position_is_read_as_it_was_written() -> None:
    assert parse_position(TEXT) == DRAWN


def test_hidden_cards_are_written_and_read() -> None:
    text = TEXT.replace("7C8D", "####").replace("JS6H", "##6H")
    assert parse_position(text) == redact(DRAWN)
    assert format_position(redact(DRAWN)) == text


def test_face_down_cards_are_written_before_a_bar() -> None:
    position = draw(LAFAYETTE, "t1: KH\nt2: 5C | 9D\nt4: 2S 7H | TC 9H")
    text = "columns=KH/5C|9D/-/2S7H|TC9H"
    assert text in format_position(position)
    assert position.columns == (("KH",), ("9D",), (), ("TC", "9H"))
    assert position.face_down == ((), ("5C",), (), ("2S", "7H"))
    assert position.face_down_counts == (0, 1, 0, 2)
    assert "columns=KH/##|9D/-/####|TC9H" in format_position(redact(position))
    for written in (position, redact(position)):
        assert parse_position(format_position(written)) == written


@pytest.mark.parametrize("name", GAMES)
def test_every_opening_and_its_view_can_be_written_and_read(name: str) -> None:
    position = deal_for_key(GAMES[name], b"an opening to write down")
    for pictured in (position, redact(position)):
        assert parse_position(format_position(pictured)) == pictured


def test_banked_counts_every_card_on_the_foundations() -> None:
    assert DRAWN.banked == 6
    assert [played.opening().banked for played in played_games("caprice")] == [8] * 18


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


def test_positions_are_values() -> None:
    assert Position(*DRAWN) == DRAWN
    assert len({DRAWN, Position(*DRAWN), DRAWN._replace(passes=5)}) == 2
