"""Cards on small canvases, and texts in cells."""

import pytest
import segno
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kit.pictures import rows
from kit.positions import draw
from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.draw import rule_rows, title_facts
from saratoga_client.board_view.faces import (
    CardState,
    CardStyle,
    Size,
    card_face,
    space_face,
)
from saratoga_client.board_view.layout import ColumnRow, column_rows, lay_out
from saratoga_client.board_view.piles import SIZES, SMALL, STRIPS
from saratoga_client.board_view.roles import Role
from saratoga_client.session.invitation import QUIET, qr_lines
from saratoga_client.text import cells_of, fitted, wrapped
from saratoga_protocol.visible_text import UNSEEN, sanitised
from saratoga_rules.cards import Card
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, redact

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


TEXTS = st.text(max_size=60)

WIDEST = len("<U+E0041>")
"""The width in cells of the widest replacement for a character."""


@given(TEXTS)
def test_a_text_takes_the_cells_of_what_is_shown(text: str) -> None:
    assert cells_of(text) == cell_len(sanitised(text))


@given(TEXTS, st.integers(0, 40))
def test_a_fitted_text_takes_exactly_its_cells(text: str, cells: int) -> None:
    assert cells_of(fitted(text, cells)) == cells


@given(TEXTS, st.integers(WIDEST, 40), st.integers(0, 8))
def test_wrapped_lines_are_short_enough_and_lose_nothing(
    text: str, cells: int, indent: int
) -> None:
    lines = wrapped(text, cells, indent)
    assert all(cells_of(line) <= max(cells, indent + WIDEST) for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_a_word_that_must_be_broken_begins_where_there_is_room() -> None:
    assert wrapped("0:10 王小明王小明王小明 leads", 12, indent=5) == [
        "0:10 王小明",
        "     王小明",
        "     王小明",
        "     leads",
    ]


COUNTS = st.integers(1, 104)


def test_face_down_cards_have_a_row_each_if_all_fit_and_one_together_if_not() -> None:
    assert column_rows(2, 5, (0,), below=3) == (
        *(ColumnRow(-3), ColumnRow(-2), ColumnRow(-1)),
        *(ColumnRow(0), ColumnRow(1)),
    )
    assert column_rows(2, 4, (0,), below=3) == (ColumnRow(-3, 3), ColumnRow(0), ColumnRow(1))
    assert column_rows(9, 4, (0,), below=3) == (
        *(ColumnRow(-3, 3), ColumnRow(0), ColumnRow(1, 7), ColumnRow(8)),
    )
    assert column_rows(9, 1, (0,), below=3) == (ColumnRow(8),)


@given(COUNTS, st.integers(8, 40), st.lists(st.integers(0, 103), max_size=3))
def test_with_rows_enough_no_anchor_is_hidden(count: int, rows: int, anchors: list[int]) -> None:
    shown = column_rows(count, rows, [anchor % count for anchor in anchors])
    assert {ColumnRow(anchor % count) for anchor in anchors} <= set(shown)


@given(COUNTS, st.integers(2, 40))
def test_no_row_is_left_unused(count: int, rows: int) -> None:
    assert len(column_rows(count, rows, (0,))) >= min(count, rows) - 1


@pytest.mark.parametrize(
    ("name", "picture", "facts"),
    [
        ("canfield", "pass: 5\nbase: T", ("pass 5", "base 10")),
        ("canfield-aisleriot", "pass: 3\nbase: 6", ("pass 3/3", "base 6")),
        ("lafayette", "pass: 2", ("pass 2",)),
        ("lady-palk", "t1: KS", ("one pass",)),
        ("caprice", "stock: " + "2C " * 24, ("deals left 2",)),
        ("caprice", "stock: " + "2C " * 37, ("deals left 4 (last one short)",)),
        ("caprice", "stock: " + "2C " * 5, ("last deal, 5 cards",)),
        ("caprice", "stock: 2C", ("last deal, 1 card",)),
        ("caprice", "t1: KS", ("no deal left",)),
    ],
)
def test_a_title_says_pass_base_or_deals(name: str, picture: str, facts: tuple[str, ...]) -> None:
    game = GAMES[name]
    assert title_facts(game, redact(draw(game, picture))) == facts


def view_of(name: str, picture: str) -> View:
    return redact(draw(GAMES[name], picture))


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize("length", range(1, 27))
def test_no_card_lies_in_a_row_of_the_text(name: str, length: int) -> None:
    suits = "SH" if GAMES[name].packs == 1 else "SHCD"
    cards = [rank + suit for suit in suits for rank in "KQJT98765432A"][:length]
    view = view_of(name, f"t2: {' '.join(cards)}")
    layout = lay_out(GAMES[name], view, 55, 21, None)
    rows = rule_rows(GAMES[name], view, layout)
    assert not [tile for tile in layout.tiles for y in rows if tile.y <= y < tile.y + tile.height]
