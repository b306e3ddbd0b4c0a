"""The players about whom the host is asked before a start."""

import pytest

from kit.session_states import seat, table
from saratoga_client.session.start_question import left_behind, start_question


def test_only_connected_people_who_can_get_ready_and_are_not_are_left_behind() -> None:
    seats = [
        seat("y"),
        seat("a"),
        seat("r", connected=False),
        seat("m", blocked=True),
        seat("o"),
    ]
    assert left_behind(table(phase="gathering", seats=seats)) == ("ana",)


@pytest.mark.parametrize(
    ("names", "question"),
    [
        (("Ben",), "Ben isn't ready. Start without Ben?"),
        (("Ben", "Mei"), "Ben and Mei aren't ready. Start without them?"),
        (("Ben", "Mei", "Raj"), "3 players aren't ready. Start without them?"),
    ],
)
def test_the_question_fits_on_one_line(names: tuple[str, ...], question: str) -> None:
    assert start_question(names) == question
