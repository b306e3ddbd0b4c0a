"""Cards, their styles, roles and codes on a canvas."""

import pytest
import segno
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kit.board_pictures import rows
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.faces import (
    CardState,
    CardStyle,
    Size,
    SuitColours,
    card_face,
    space_face,
)
from saratoga_client.board_view.piles import SIZES, SMALL, STRIPS
from saratoga_client.board_view.roles import Role
from saratoga_client.session.invitation import QUIET, qr_lines
from saratoga_protocol.visible_text import UNSEEN
from saratoga_rules.cards import Card

WIDE = st.text(st.sampled_from("aé♠李雷한👋\u0301 ─10"), max_size=12)
ROLES = st.sampled_from([Role.TEXT, Role.KEY, Role.CARD_RED])
WRITINGS = st.lists(st.tuples(st.integers(-6, 14), st.integers(-2, 5), WIDE, ROLES), max_size=12)


def widths(canvas: Canvas) -> set[int]:
    return {sum(cell_len(piece.text) for piece in row) for row in rows(canvas)}


@given(st.integers(-4, 12), st.text(max_size=12))
def test_no_text_on_a_canvas_is_a_command_to_the_terminal(x: int, text: str) -> None:
    canvas = Canvas(12, 1)
    canvas.put(x, 0, text, Role.TEXT)
    assert not UNSEEN.search("".join(piece.text for piece in rows(canvas)[0]))


def test_half_a_wide_sign_is_never_shown() -> None:
    canvas = Canvas(5, 1)
    canvas.put(-1, 0, "李", Role.TEXT)
    canvas.put(4, 0, "雷", Role.TEXT)
    assert canvas.text() == ""
    canvas.put(1, 0, "李", Role.TEXT)
    canvas.put(2, 0, "x", Role.TEXT)
    assert canvas.text() == "  x"


def test_a_sign_without_width_joins_the_one_before() -> None:
    canvas = Canvas(6, 1)
    canvas.put(0, 0, "e\u0301李\u0301x", Role.TEXT)
    assert canvas.text() == "e\u0301李\u0301x"
    assert widths(canvas) == {6}


@given(WRITINGS)
def test_every_row_is_as_wide_as_the_canvas_whatever_is_written(
    writings: list[tuple[int, int, str, Role]],
) -> None:
    canvas = Canvas(9, 3)
    for x, y, text, role in writings:
        canvas.put(x, y, text, role)
        assert widths(canvas) == {9}


ALL_SIZES = (*SIZES, SMALL, *STRIPS)
LOOKS = (CardStyle(), CardStyle(hollow=True), CardStyle(ascii=True))


@pytest.mark.parametrize("size", [size for size in ALL_SIZES if size.height > 1])
@pytest.mark.parametrize("style", LOOKS)
def test_selected_cards_and_targets_differ_by_their_lines_alone(
    size: Size, style: CardStyle
) -> None:
    seen = {
        card_face(Card("9D"), size, style, state).text()
        for state in (CardState.PLAIN, CardState.PICKED, CardState.TARGET)
    }
    assert len(seen) == 3
    spaces = [space_face("K", size, style, lit).text() for lit in (False, True)]
    assert spaces[0] != spaces[1]


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


LINK = "http://192.168.100.100:7470/mint-otter-42"
PARTS = {" ": (False, False), "▀": (True, False), "▄": (False, True), "█": (True, True)}


def modules(text: str) -> list[list[bool]]:
    """Return the rows of the code, with its edge; dark modules are true."""
    rows = segno.make_qr(text, error="l").matrix_iter(border=QUIET)
    return [[bool(module) for module in row] for row in rows]


def halves(lines: tuple[str, ...]) -> list[list[bool]]:
    """Return the rows that the lines draw."""
    return [
        [PARTS[character][half] for character in line] for line in lines for half in (False, True)
    ]


def test_two_rows_of_the_code_share_a_line() -> None:
    drawn, code = halves(qr_lines(LINK, on_dark=False)), modules(LINK)
    assert drawn[: len(code)] == code
    assert len(drawn) - len(code) in (0, 1)


def test_with_ascii_only_a_module_is_two_characters_wide() -> None:
    lines, code = qr_lines(LINK, ascii_only=True, on_dark=False), modules(LINK)
    assert [[pair == "##" for pair in _pairs(line)] for line in lines] == code
    assert {pair for line in lines for pair in _pairs(line)} == {"##", "  "}


def _pairs(line: str) -> list[str]:
    return [line[at : at + 2] for at in range(0, len(line), 2)]


@pytest.mark.parametrize("link", [LINK, "https://patience.example.org/happy-galaxy-66"])
def test_a_usual_link_fits_a_small_terminal(link: str) -> None:
    lines = qr_lines(link)
    assert len(lines) <= 17
    assert {len(line) for line in lines} == {33}
