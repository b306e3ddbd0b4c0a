"""Slow readers: the number of their unread bytes must decrease."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from saratoga_server.transport.slow_readers import LONGEST_PENDING, SlowReaderDetector


class Pile:
    """A transport with that many unsent bytes."""

    def __init__(self) -> None:
        self.waits = 0

    def get_write_buffer_size(self) -> int:
        return self.waits

    def get_extra_info(self, name: str) -> None:
        return None


@pytest.fixture
def looks() -> Callable[[list[int]], list[bool]]:
    def look(waiting: list[int]) -> list[bool]:
        """Return the results of two checks, half of the allowed time apart."""
        pile = Pile()
        reading = SlowReaderDetector(cast(Any, pile))
        seen = []
        for number, waits in enumerate(waiting):
            pile.waits = waits
            seen.append(reading.has_stopped(number * LONGEST_PENDING / 2))
        return seen

    return look


def test_a_client_that_leaves_nothing_waiting_reads(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([0] * 20) == [False] * 20
    assert looks([9, 0] * 10) == [False] * 20


def test_a_client_that_reads_a_little_now_and_then_reads(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([90, 80, 80, 70, 90, 60, 60, 50]) == [False] * 8


def test_a_client_that_reads_nothing_for_too_long_has_stopped(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([50, 50, 50, 50]) == [False, False, False, True]
    assert looks([10, 20, 30, 40]) == [False, False, False, True]
    assert looks([0, 0, 1, 1, 1, 1]) == [False] * 5 + [True]


def test_a_pause_begins_anew_after_every_byte_read(
    looks: Callable[[list[int]], list[bool]],
) -> None:
    assert looks([50, 50, 50, 49, 49, 49, 49]) == [False] * 6 + [True]
