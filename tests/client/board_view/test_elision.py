"""Long columns show the first card, picked cards and the end, and the number of the omitted cards."""

from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.board_view.elision import ColumnRow, column_rows

COUNTS = st.integers(1, 104)


def test_a_column_that_fits_is_shown_whole() -> None:
    assert column_rows(3, 3, (0,)) == (ColumnRow(0), ColumnRow(1), ColumnRow(2))


def test_between_the_first_card_and_the_end_cards_are_counted() -> None:
    assert column_rows(9, 5, (0,)) == (
        ColumnRow(0),
        ColumnRow(1, 5),
        ColumnRow(6),
        ColumnRow(7),
        ColumnRow(8),
    )


def test_the_head_of_a_picked_packet_stays() -> None:
    assert column_rows(20, 7, (0, 9)) == (
        ColumnRow(0),
        ColumnRow(1, 8),
        ColumnRow(9),
        ColumnRow(10, 7),
        ColumnRow(17),
        ColumnRow(18),
        ColumnRow(19),
    )


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


def test_with_two_rows_the_more_important_card_is_shown() -> None:
    assert column_rows(9, 2, (0, 5)) == (ColumnRow(0, 8), ColumnRow(8))
    assert column_rows(9, 1, (0, 5)) == (ColumnRow(8),)


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
