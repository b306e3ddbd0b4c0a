"""The rate limiter: limits of a player, which all its connections share."""

import pytest

from kit.limiters import ANNA, BERT, Bench, opened, taken
from saratoga_server.rate_limits.limiter import unlimited
from saratoga_server.rate_limits.rates import (
    COMMANDS_PREPAID,
    MAX_CONNECTIONS_PER_PLAYER,
    PER_ADDRESS,
    Action,
)


def test_a_player_has_one_command_limit_over_all_connections(bench: Bench) -> None:
    limiter = bench.limiter(rate=10, burst=6)
    one, two = opened(limiter, ANNA), opened(limiter, BERT)
    assert one.spend(1, 0.0)
    one.authenticated("anna")
    two.authenticated("anna")
    assert [quota.spend(1, 0.0) for quota in (one, two) * 3] == [True] * 5 + [False]
    assert bench.refusals == {"commands": 1}
    assert two.seconds_to_wait(1, 0.0) == pytest.approx(0.1)
    assert two.spend(1, 0.1)


def test_commands_beyond_the_limit_are_counted_and_forgiven_one_by_one(bench: Bench) -> None:
    quota = opened(bench.limiter(rate=1, burst=2), ANNA)
    assert [quota.spend(1, 0.0) for _ in range(5)] == [True] * 2 + [False] * 3
    assert quota.overdrawn == 3
    assert [quota.spend(1, 10.0), quota.spend(1, 10.0)] == [True, True]
    assert quota.overdrawn == 1


def test_a_penalty_takes_tokens_if_they_are_there(bench: Bench) -> None:
    quota = opened(bench.limiter(rate=1, burst=8), ANNA)
    quota.penalise(5, 0.0)
    quota.penalise(5, 0.0)
    assert [quota.spend(1, 0.0) for _ in range(4)] == [True] * 3 + [False]


def test_an_address_has_one_command_limit_over_all_players(bench: Bench) -> None:
    limiter = bench.limiter(rate=0)
    quotas = [opened(limiter, ANNA) for _ in range(100)]
    spent = sum(quota.spend(1, 0.0) for quota in quotas for _ in range(1000))
    burst = PER_ADDRESS[Action.COMMANDS].burst
    assert 0.9 * burst < spent <= burst
    refused = next(quota for quota in quotas if not quota.spend(1, 0.0))
    every = PER_ADDRESS[Action.COMMANDS].every
    assert refused.seconds_to_wait(1, 0.0) == pytest.approx(COMMANDS_PREPAID * every)
    assert refused.overdrawn == 0, "others may have used the address's limit up"


def test_a_closed_connection_refunds_the_commands_it_has_not_used(bench: Bench) -> None:
    limiter = bench.limiter(rate=0)
    for _ in range(4000):
        quota = opened(limiter, ANNA)
        assert quota.spend(1, 0.0)
        quota.close()
    assert bench.refusals == {}


def test_of_too_many_connections_of_a_player_the_oldest_without_a_seat_is_evicted(
    bench: Bench,
) -> None:
    limiter = bench.limiter()
    for number in range(MAX_CONNECTIONS_PER_PLAYER + 3):
        connection = bench.connection(number, holds_seat=number == 0)
        limiter.open(ANNA, connection).authenticated("anna")
    assert bench.evicted == [1, 2, 3]


def test_if_all_connections_of_a_player_hold_a_seat_the_oldest_is_evicted(bench: Bench) -> None:
    limiter = bench.limiter()
    for number in range(MAX_CONNECTIONS_PER_PLAYER + 1):
        limiter.open(ANNA, bench.connection(number, holds_seat=True)).authenticated("anna")
    assert bench.evicted == [0]


def test_a_connection_that_closes_before_its_hello_is_answered_does_not_count(
    bench: Bench,
) -> None:
    limiter = bench.limiter()
    limiter.open(ANNA, bench.connection(0)).authenticated("anna")
    for _ in range(MAX_CONNECTIONS_PER_PLAYER):
        quota = opened(limiter, ANNA)
        quota.close()
        quota.authenticated("anna")
    assert bench.evicted == []


def test_a_player_who_reconnects_finds_the_buckets_as_they_were(bench: Bench) -> None:
    limiter = bench.limiter(rate=1, burst=2)
    for spent in (2, 0, 0):
        quota = opened(limiter, ANNA)
        quota.authenticated("anna")
        assert sum(quota.spend(1, bench.now) for _ in range(3)) == spent
        assert taken(quota, Action.WRONG_CODE) == 10 * spent
        quota.close()
    bench.now += 2
    quota = opened(limiter, ANNA)
    quota.authenticated("anna")
    assert sum(quota.spend(1, bench.now) for _ in range(3)) == 2


def test_players_who_left_and_used_nothing_lately_make_room_for_others(bench: Bench) -> None:
    limiter = bench.limiter(rate=1, burst=2, capacity=2)
    for number in range(10):
        quota = opened(limiter, ANNA)
        quota.authenticated(f"player {number}")
        assert quota.spend(2, bench.now)
        quota.close()
        bench.now += 3
    one, two = opened(limiter, ANNA), opened(limiter, BERT)
    one.authenticated("anna")
    two.authenticated("anna")
    assert one.spend(2, bench.now)
    assert not two.spend(1, bench.now), "both share the buckets of one player"


def test_an_unlimited_quota_refuses_nothing() -> None:
    quota = unlimited()
    quota.authenticated("anna")
    assert all(quota.take(action) == 0 for action in Action for _ in range(10_000))
    assert all(quota.spend(5, 0.0) for _ in range(10_000))
