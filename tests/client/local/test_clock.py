"""The time of day in milliseconds."""

from time import time_ns

from saratoga_client.local.clock import now


def test_it_is_the_time_of_this_machine_in_milliseconds() -> None:
    before = time_ns() // 1_000_000
    told = now()
    assert before - 1 <= told <= time_ns() // 1_000_000 + 1
