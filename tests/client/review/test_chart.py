import pytest

from kit.races import Entrant, race
from kit.walks import banking, wandering
from saratoga_client.review.boards import open_boards
from saratoga_client.review.chart import LABEL, ChartLine, chart, mark_of
from saratoga_client.review.climb import Climb
from saratoga_rules.games import GAMES

FAST = Climb(0, ((10_000, 5), (30_000, 20)), 30_000)
SLOW = Climb(0, ((60_000, 10),), 60_000)


def test_each_racer_draws_a_line_of_their_own_mark() -> None:
    drawn = chart([ChartLine(1, FAST), ChartLine(2, SLOW)], even=10, width=34, height=7)
    assert drawn.rows == (
        " 20|               1",
        "   |               1",
        "   |               1",
        " 10|. . . . . . . .1. . . . . . .2",
        "   |     1111111111              2",
        "  0|11111222222222222222222222222",
        "    0:00         0:30         1:00",
    )


def test_racers_who_share_a_place_share_its_mark_and_each_has_a_line() -> None:
    lines = [ChartLine(1, FAST), ChartLine(1, SLOW), ChartLine(3, Climb(0, (), 60_000))]
    drawn = chart(lines, even=10, width=34, height=7)
    marks = {sign for row in drawn.rows[:-1] for sign in row[LABEL:]} - {" ", "."}
    assert marks == {"1", "3"}
    row = drawn.rows[4]
    assert [drawn.line_at.get((at, 4)) for at in (row.index("1"), row.rindex("1"))] == [0, 1]
    assert drawn.line_at.get((LABEL, 0)) is None


def test_a_place_that_no_table_has_is_drawn_with_the_last_mark() -> None:
    assert [mark_of(place) for place in (-1, 0, 1, 16, 17)] == ["1", "1", "1", "g", "g"]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("width", "height"), [(20, 4), (54, 12), (100, 20), (5, 2)])
def test_no_chart_is_wider_or_higher_than_it_may_be(name: str, width: int, height: int) -> None:
    record = race(name, 2, [Entrant("Anna", banking), Entrant("Otto", wandering, patience=9)])
    lines = [board.chart_line for board in open_boards(record)]
    drawn = chart(lines, 10 * GAMES[name].packs, width, height).rows
    assert len(drawn) <= max(height, 3)
    assert all(len(row) <= max(width, 20) for row in drawn)
    assert all(row.isascii() for row in drawn)


def test_a_race_in_which_nothing_was_done_has_a_chart_too() -> None:
    drawn = chart([ChartLine(1, Climb(0, (), 0))], even=10, width=30, height=6).rows
    assert any("1" in row for row in drawn[:-1])
