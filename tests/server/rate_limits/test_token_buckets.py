"""Token buckets: burst, rate, waits and refunds; and the bounded table, which drops only full buckets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_server.rate_limits.rates import NO_LIMITS, UNLIMITED, Action, Rate
from saratoga_server.rate_limits.token_buckets import TokenBucket, Usage, UsageTable

ONE_A_MINUTE = {Action.PAGE: Rate(1, 60.0)}

# One bucket


def test_a_bucket_refills_with_time() -> None:
    bucket = TokenBucket(Rate(3, 0.1))
    assert [bucket.take(1, 0.0) for _ in range(4)] == [True, True, True, False]
    assert bucket.seconds_to_wait(1, 0.0) == pytest.approx(0.1)
    assert not bucket.take(1, 0.09)
    assert bucket.take(1, 0.1)
    assert not bucket.is_full(0.39)
    assert bucket.is_full(0.41)
    assert bucket.take(3, 100.0)
    assert not bucket.take(1, 100.0)


def test_a_refund_puts_tokens_back() -> None:
    bucket = TokenBucket(Rate(3, 0.1))
    assert bucket.take(3, 0.0)
    bucket.refund(2)
    assert [bucket.take(1, 0.0) for _ in range(3)] == [True, True, False]


def test_an_unlimited_bucket_is_always_full() -> None:
    bucket = TokenBucket(UNLIMITED)
    assert all(bucket.take(5, 0.0) for _ in range(1000))
    assert bucket.seconds_to_wait(5, 0.0) == 0
    assert bucket.is_full(0.0)


@given(
    st.floats(1, 100),
    st.floats(0.01, 10),
    st.lists(st.tuples(st.floats(0, 20), st.floats(0.1, 5)), max_size=60),
)
def test_no_timing_gets_more_than_burst_and_rate(
    burst: float, every: float, requests: list[tuple[float, float]]
) -> None:
    bucket, now, taken = TokenBucket(Rate(burst, every)), 0.0, []
    for later, cost in requests:
        now += later
        if bucket.take(cost, now):
            taken.append((now, cost))
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            had = sum(cost for _, cost in taken[first : last + 1])
            assert had <= burst + (taken[last][0] - taken[first][0]) / every + 1e-6


@given(st.floats(1, 100), st.floats(0.01, 10), st.lists(st.floats(0, 2), max_size=40))
def test_after_the_wait_the_tokens_are_there(
    burst: float, every: float, requests: list[float]
) -> None:
    bucket, now = TokenBucket(Rate(burst, every)), 0.0
    for later in requests:
        now += later
        wait = bucket.seconds_to_wait(1, now)
        assert bucket.take(1, now) == (wait == 0)
        if wait:
            assert bucket.take(1, now + wait + 1e-6)
            now += wait


# The table


def usage(taken: int = 0, connections: int = 0) -> Usage:
    """Return the usage of an address that has requested `taken` pages at time 0."""
    made = Usage(ONE_A_MINUTE, TokenBucket(UNLIMITED), open=connections)
    bucket = made.bucket(Action.PAGE)
    assert bucket is not None
    assert all(bucket.take(1, 0.0) for _ in range(taken))
    return made


def test_an_action_without_a_limit_has_no_bucket() -> None:
    assert Usage(NO_LIMITS, TokenBucket(UNLIMITED)).bucket(Action.PAGE) is None


def test_a_usage_is_unused_without_connections_and_with_full_buckets() -> None:
    assert usage().is_unused(0.0)
    assert not usage(connections=1).is_unused(0.0)
    assert not usage(taken=1).is_unused(59.0)
    assert usage(taken=1).is_unused(61.0)
    spent = Usage(ONE_A_MINUTE, TokenBucket(Rate(10, 1.0)))
    spent.commands.take(1, 0.0)
    assert not spent.is_unused(0.5)


def test_a_full_table_drops_unused_entries_and_keeps_the_others() -> None:
    table = UsageTable[Usage](3)
    kept = [usage(taken=1), usage(connections=1)]
    assert table.insert("taken", kept[0], 0.0)
    assert table.insert("open", kept[1], 0.0)
    for number in range(100):
        assert table.insert(f"unused {number}", usage(), 0.0)
        assert len(table) == 3
    assert [table.find("taken"), table.find("open")] == kept
    assert table.find("unused 98") is None


def test_a_table_of_used_entries_refuses_new_ones_until_their_buckets_are_full() -> None:
    table = UsageTable[Usage](20)
    for number in range(20):
        assert table.insert(f"{number}", usage(taken=1), 0.0)
    assert not table.insert("new", usage(), 59.0)
    assert len(table) == 20
    assert table.insert("new", usage(), 61.0)
    assert table.find("new") is not None
    assert len(table) < 20
