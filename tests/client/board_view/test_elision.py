"""Long columns: the head, what is picked and the end stay; the rest is counted."""

from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.board_view.elision import Run, rows_of

COUNTS = st.integers(1, 104)


def test_a_column_that_fits_is_shown_whole() -> None:
    assert rows_of(3, 3, (0,)) == (Run(0), Run(1), Run(2))


def test_between_the_first_card_and_the_end_cards_are_counted() -> None:
    assert rows_of(9, 5, (0,)) == (Run(0), Run(1, 5), Run(6), Run(7), Run(8))


def test_the_head_of_a_picked_packet_stays() -> None:
    assert rows_of(20, 7, (0, 9)) == (
        Run(0),
        Run(1, 8),
        Run(9),
        Run(10, 7),
        Run(17),
        Run(18),
        Run(19),
    )


def test_of_two_rows_the_more_important_card_has_one() -> None:
    assert rows_of(9, 2, (0, 5)) == (Run(0, 8), Run(8))
    assert rows_of(9, 1, (0, 5)) == (Run(8),)


@given(COUNTS, st.integers(3, 40), st.lists(st.integers(0, 103), max_size=3))
def test_every_card_is_shown_or_counted_once_and_in_order(
    count: int, rows: int, anchors: list[int]
) -> None:
    shown = rows_of(count, rows, [anchor % count for anchor in anchors])
    assert len(shown) <= rows
    cards = [index for run in shown for index in range(run.first, run.first + run.count)]
    assert cards == list(range(count))
    assert shown[-1] == Run(count - 1)


@given(COUNTS, st.integers(8, 40), st.lists(st.integers(0, 103), max_size=3))
def test_with_rows_enough_no_anchor_is_hidden(count: int, rows: int, anchors: list[int]) -> None:
    shown = rows_of(count, rows, [anchor % count for anchor in anchors])
    assert {Run(anchor % count) for anchor in anchors} <= set(shown)


@given(COUNTS, st.integers(2, 40))
def test_no_row_is_left_unused(count: int, rows: int) -> None:
    assert len(rows_of(count, rows, (0,))) >= min(count, rows) - 1
