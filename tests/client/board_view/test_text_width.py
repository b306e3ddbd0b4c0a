"""The width of texts in cells, and cutting and padding to a width."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from saratoga_client.board_view.text_width import (
    LETTERS,
    UNICODE,
    cells_of,
    fitted,
    fitted_name,
    panel_symbols,
    wrapped,
)
from saratoga_client.sanitised import sanitised

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


@given(st.text(max_size=40), st.booleans(), st.sampled_from(["", "weak", "x" * 12]), WIDTHS)
def test_a_name_takes_exactly_its_cells_and_a_bot_stays_marked(
    name: str, bot: bool, level: str, cells: int
) -> None:
    fitted = fitted_name(name, bot, level, cells)
    assert cells_of(fitted) == cells
    assert fitted.rstrip().endswith(("[bot]", " bot]", "[weak]")) or not bot


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (24, "Maximilian [strong bot]"),
        (22, "Maximilian [strong]"),
        (16, "Maximi… [strong]"),
        (14, "Maxi… [strong]"),
        (13, "Maximi… [bot]"),
        (8, "M… [bot]"),
    ],
)
def test_a_bot_s_level_gives_way_to_its_name(cells: int, shown: str) -> None:
    assert fitted_name("Maximilian", True, "strong", cells).rstrip() == shown


def test_a_short_name_keeps_the_level_wherever_both_fit() -> None:
    assert fitted_name("Ida", True, "weak", 14) == "Ida [weak bot]"
    assert fitted_name("Ida", True, "weak", 13) == "Ida [weak]   "
    assert fitted_name("Ida", True, "weak", 9) == "Ida [bot]"


def test_only_the_levels_of_our_own_bots_stand_for_the_word_bot() -> None:
    assert fitted_name("Ida", True, "human", 15) == "Ida [human bot]"
    assert fitted_name("Ida", True, "human", 14).rstrip() == "Ida [bot]"


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


def test_every_sign_takes_one_cell() -> None:
    assert panel_symbols(ascii_only=True) is LETTERS
    assert panel_symbols(ascii_only=False) is UNICODE
    for kind in (LETTERS, UNICODE):
        single = (kind.filled, kind.rest, kind.tick, kind.dots, kind.away, kind.across)
        for sign in (*single, kind.upright, *kind.corners, *kind.states.values()):
            assert cell_len(sign) == len(sign) == 1
    assert all(sign.isascii() for sign in LETTERS.states.values())
