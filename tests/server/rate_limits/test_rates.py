"""Paces, and the evening that must never meet one: sixteen friends and their bots at one address."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from saratoga_server.rate_limits.accounts import RateLimiter
from saratoga_server.rate_limits.limits import (
    PER_ADDRESS,
    Act,
    Allowance,
    Rate,
    TokenBucket,
    stretched,
)

from kit.households import FRIENDS, Household
from saratoga_client.backoff import Backoff
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS

# Paces


def test_an_allowance_fills_up_with_time() -> None:
    allowance = Allowance(rate=10, burst=3)
    assert [allowance.takes(1, 0.0) for _ in range(4)] == [True, True, True, False]
    assert allowance.wait(1, 0.0) == pytest.approx(0.1)
    assert not allowance.takes(1, 0.09)
    assert allowance.takes(1, 0.1)
    assert allowance.takes(3, 100.0)
    assert not allowance.takes(1, 100.0)
    unlimited = Allowance(rate=0, burst=1)
    assert all(unlimited.takes(5, 0.0) for _ in range(1000))
    assert unlimited.wait(5, 0.0) == 0


@given(
    st.floats(1, 100),
    st.floats(0.01, 10),
    st.lists(st.tuples(st.floats(0, 20), st.floats(0.1, 5)), max_size=60),
)
def test_no_timing_gets_more_than_burst_and_rate(
    burst: float, every: float, asked: list[tuple[float, float]]
) -> None:
    pace, bucket, now, taken = Rate(burst, every), TokenBucket(), 0.0, []
    for later, cost in asked:
        now += later
        if bucket.takes(pace, cost, now):
            taken.append((now, cost))
    for first in range(len(taken)):
        for last in range(first, len(taken)):
            had = sum(cost for _, cost in taken[first : last + 1])
            assert had <= burst + (taken[last][0] - taken[first][0]) / every + 1e-6


@given(st.floats(1, 100), st.floats(0.01, 10), st.lists(st.floats(0, 2), max_size=40))
def test_who_waits_as_long_as_told_is_let_through(
    burst: float, every: float, asked: list[float]
) -> None:
    pace, bucket, now = Rate(burst, every), TokenBucket(), 0.0
    for later in asked:
        now += later
        wait = bucket.wait(pace, 1, now)
        assert bucket.takes(pace, 1, now) == (wait == 0)
        if wait:
            assert bucket.takes(pace, 1, now + wait + 1e-6)
            now += wait


def test_a_factor_is_for_so_many_households() -> None:
    assert stretched({Act.PAGE: Rate(10, 6.0)}, 3) == {Act.PAGE: Rate(30, 2.0)}


# What the limits make of guessing


def test_codes_cannot_be_guessed_from_one_address() -> None:
    """The figures of SECURITY.md: a day of guessing finds one given table with chance 0.4 %."""
    codes = len(FIRST_WORDS) * len(SECOND_WORDS) * NUMBERS
    pace = PER_ADDRESS[Act.WRONG_CODE]
    assert codes == 3_600_000
    an_evening = pace.burst + 4 * 3600 / pace.every
    a_day = pace.burst + 24 * 3600 / pace.every
    assert an_evening / codes < 0.0007
    assert a_day / codes < 0.0041


# The evening


@pytest.fixture
def home() -> Household:
    return Household(RateLimiter)


def test_a_house_full_of_friends_comes_plays_and_goes(home: Household) -> None:
    home.everybody_comes()
    for _ in range(FRIENDS):
        home.opens_a_table()
        home.mistypes_a_code(times=2)
        home.renames_somebody()
        home.plays(seconds=20, commands_a_second=30)
    assert home.refusals == []


@pytest.mark.parametrize("seed", range(3))
def test_a_restart_brings_everybody_back_at_once(home: Household, seed: int) -> None:
    home.everybody_comes()
    for _ in range(10):
        home.everybody_reconnects(Backoff(), Random(seed), failures=0)
        home.plays(seconds=20, commands_a_second=30)
    assert home.refusals == []


def test_a_store_that_is_away_for_a_minute_has_everybody_call_again_and_again(
    home: Household,
) -> None:
    home.everybody_comes()
    chance = Random(1)
    for _ in range(120):
        home.everybody_reconnects(Backoff(), chance, failures=8)
    assert home.seconds > 30
    assert home.refusals == []


def test_new_bots_every_quarter_of_an_hour_are_no_trouble(home: Household) -> None:
    for _ in range(20):
        home.everybody_comes(new=True)
        home.passes(seconds=900)
    assert home.refusals == []


def test_the_evening_can_meet_a_limit() -> None:
    """Of a hundredth of the size; so the tests above can fail."""
    cramped = Household(lambda steady, **options: RateLimiter(steady, factor=0.01, **options))
    cramped.everybody_comes()
    assert set(cramped.refusals) >= {"connections", "players", "names"}


def test_paces_grow_no_shorter_with_time() -> None:
    pace, bucket = Rate(5, 2.0), TokenBucket()
    waits = []
    for _ in range(8):
        bucket.takes(pace, 1, 0.0)
        waits.append(bucket.wait(pace, 1, 0.0))
    assert all(before <= after for before, after in pairwise(waits))
    assert waits[-1] == 2.0
