"""How many connections each worker has, seen by all of them."""

import os
from collections.abc import Iterator

import pytest

from saratoga_server.process.census import NOBODY, Census


@pytest.fixture
def three() -> Iterator[list[Census]]:
    """The parent's view, and those of two workers."""
    parent, file = Census.made(2)
    workers = [Census(os.dup(file.fileno()), 2, place) for place in range(2)]
    file.close()
    yield [parent, *workers]
    for each in (parent, *workers):
        each.close()


def test_at_first_nobody_counts(three: list[Census]) -> None:
    assert {each.least() for each in three} == {NOBODY}


def test_what_one_tells_all_see(three: list[Census]) -> None:
    _, first, second = three
    first.tell(7)
    assert {each.least() for each in three} == {7}
    second.tell(3)
    assert {each.least() for each in three} == {3}
    second.tell(9)
    assert {each.least() for each in three} == {7}


def test_nobody_waits_for_one_who_is_gone(three: list[Census]) -> None:
    parent, first, second = three
    first.tell(7)
    second.tell(0)
    parent.gone(1)
    assert first.least() == 7
