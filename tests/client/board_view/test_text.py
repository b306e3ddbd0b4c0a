"""Texts fit their width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kit.positions import draw
from saratoga_client.board_view.draw import rule_rows, title_facts
from saratoga_client.board_view.layout import ColumnRow, column_rows, lay_out
from saratoga_client.rules_text import column_rules
from saratoga_client.text import cells_of, fitted, wrapped
from saratoga_protocol.visible_text import sanitised
from saratoga_rules.dealing.deal import deal_for_key, practice_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import View, redact

TEXTS = st.text(max_size=60)
WIDTHS = st.integers(8, 40)

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


@given(COUNTS, st.integers(4, 40), st.lists(st.integers(0, 103), max_size=3), st.integers(0, 20))
def test_every_card_is_shown_or_counted_once_and_in_order(
    count: int, rows: int, anchors: list[int], below: int
) -> None:
    shown = column_rows(count, rows, [anchor % count for anchor in anchors], below)
    assert len(shown) <= rows
    cards = [index for run in shown for index in range(run.first, run.first + run.count)]
    assert cards == list(range(-below, count))
    assert shown[-1] == ColumnRow(count - 1)


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


@pytest.mark.parametrize("name", GAMES)
def test_every_game_says_it_at_the_deal_beside_the_panel_of_a_race(name: str) -> None:
    game = GAMES[name]
    view = redact(deal_for_key(game, practice_key("test")))
    rows = rule_rows(game, view, lay_out(game, view, 55, 21, None))
    assert " ".join(rows.values()) == " ".join(column_rules(game, view))


@pytest.mark.parametrize("name", sorted(GAMES))
@pytest.mark.parametrize("length", range(1, 27))
def test_no_card_lies_in_a_row_of_the_text(name: str, length: int) -> None:
    suits = "SH" if GAMES[name].packs == 1 else "SHCD"
    cards = [rank + suit for suit in suits for rank in "KQJT98765432A"][:length]
    view = view_of(name, f"t2: {' '.join(cards)}")
    layout = lay_out(GAMES[name], view, 55, 21, None)
    rows = rule_rows(GAMES[name], view, layout)
    assert not [tile for tile in layout.tiles for y in rows if tile.y <= y < tile.y + tile.height]
