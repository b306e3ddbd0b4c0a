"""The rate limiter: limits of addresses and of players, and the evicted connection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.limiters import ANNA, BERT, MANY, Bench, opened, taken
from saratoga_server.rate_limits.limiter import (
    CROWD,
    Quota,
)
from saratoga_server.rate_limits.rates import (
    COMMANDS_PREPAID,
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_CONNECTIONS_PER_PLAYER,
    MAX_UNAUTHENTICATED,
    MAX_UNAUTHENTICATED_PER_ADDRESS,
    MAX_WATCHERS_PER_ADDRESS,
    PER_ADDRESS,
    PER_PLAYER,
    Action,
)

# The rate limiter: shared buckets, bounded tables, connection counts, and the evicted connection


WRONG_CODES = PER_ADDRESS[Action.WRONG_CODE]


# Addresses


def test_all_connections_of_an_address_share_its_buckets(bench: Bench) -> None:
    limiter = bench.limiter()
    assert taken(opened(limiter, ANNA), Action.WRONG_CODE) == WRONG_CODES.burst
    assert taken(opened(limiter, ANNA), Action.WRONG_CODE) == 0
    assert taken(opened(limiter, BERT), Action.WRONG_CODE) == WRONG_CODES.burst
    assert bench.refusals == {"codes": 3}
    bench.now += 3 * WRONG_CODES.every
    assert taken(opened(limiter, ANNA), Action.WRONG_CODE) == 3


def test_a_refusal_names_the_seconds_to_wait(bench: Bench) -> None:
    quota = opened(bench.limiter(), ANNA)
    taken(quota, Action.TABLE)
    wait = quota.take(Action.TABLE)
    assert wait == quota.wait(Action.TABLE) == pytest.approx(PER_ADDRESS[Action.TABLE].every)
    bench.now += wait
    assert quota.wait(Action.TABLE) == 0
    assert quota.take(Action.TABLE) == 0


def test_a_refused_action_takes_no_token_of_player_or_address(bench: Bench) -> None:
    limiter = bench.limiter()
    quota = opened(limiter, ANNA)
    quota.authenticated("anna")
    assert taken(quota, Action.WRONG_CODE) == PER_PLAYER[Action.WRONG_CODE].burst
    left = WRONG_CODES.burst - PER_PLAYER[Action.WRONG_CODE].burst
    assert taken(opened(limiter, ANNA), Action.WRONG_CODE) == left


@pytest.mark.parametrize(
    ("options", "address", "is_limited"),
    [
        ({}, "127.0.0.1", False),
        ({}, "::1", False),
        ({}, "", False),
        ({"behind_proxies": True}, "127.0.0.1", True),
        ({"behind_proxies": True}, "", False),
        ({"factor": None}, ANNA, False),
        ({"factor": None, "behind_proxies": True}, ANNA, False),
        ({}, ANNA, True),
    ],
)
def test_loopback_has_no_limits_unless_behind_proxies(
    bench: Bench, options: dict[str, object], address: str, is_limited: bool
) -> None:
    limiter = bench.limiter(**options)
    quotas = [opened(limiter, address) for _ in range(MAX_CONNECTIONS_PER_ADDRESS + 1)]
    assert limiter.has_room(quotas[-1]) is not is_limited
    assert (taken(quotas[0], Action.WRONG_CODE) < MANY) is is_limited
    assert quotas[0].may_watch_beside(quotas[:MAX_WATCHERS_PER_ADDRESS]) is not is_limited


# Connections


def test_an_address_has_a_limit_on_open_connections(bench: Bench) -> None:
    limiter = bench.limiter()
    quotas = []
    for number in range(MAX_CONNECTIONS_PER_ADDRESS):
        quotas.append(opened(limiter, ANNA))
        quotas[-1].authenticated(f"player {number}")
        assert limiter.has_room(quotas[-1])
    one_more = opened(limiter, ANNA)
    assert not limiter.has_room(one_more)
    assert limiter.has_room(opened(limiter, BERT))
    one_more.close()
    quotas[0].close()
    quotas[0].close()
    assert limiter.has_room(opened(limiter, ANNA))
    assert not limiter.has_room(opened(limiter, ANNA))


def test_an_address_has_a_lower_limit_on_connections_without_a_hello(bench: Bench) -> None:
    limiter = bench.limiter()
    quotas = [opened(limiter, ANNA) for _ in range(MAX_UNAUTHENTICATED_PER_ADDRESS)]
    for quota in quotas:
        quota.requested()
        assert limiter.has_room(quota)
    one_more = opened(limiter, ANNA)
    one_more.requested()
    assert not limiter.has_room(one_more)
    quotas[0].authenticated("anna")
    assert limiter.has_room(one_more)


def test_the_oldest_connection_of_the_address_without_a_request_is_evicted(bench: Bench) -> None:
    limiter = bench.limiter()
    quotas = [
        limiter.open(ANNA, bench.connection(number))
        for number in range(MAX_UNAUTHENTICATED_PER_ADDRESS)
    ]
    quotas[0].requested()
    assert bench.evicted == []
    for number in range(3):
        assert limiter.has_room(opened(limiter, ANNA))
        assert bench.evicted == list(range(1, number + 2))
    # an evicted connection does not count any more, however long it takes to close
    quotas[1].close()
    assert limiter.has_room(opened(limiter, ANNA))
    assert bench.evicted == [1, 2, 3, 4]
    assert bench.refusals == {"connections": 4}


def test_if_all_connections_have_sent_a_request_the_newcomer_is_refused(bench: Bench) -> None:
    limiter = bench.limiter()
    for number in range(MAX_UNAUTHENTICATED_PER_ADDRESS):
        limiter.open(ANNA, bench.connection(number)).requested()
    for number in range(3):
        newest = MAX_UNAUTHENTICATED_PER_ADDRESS + number
        late = limiter.open(ANNA, bench.connection(newest))
        # a new connection evicts only the one before it, which has not sent a request
        assert bench.evicted == list(range(MAX_UNAUTHENTICATED_PER_ADDRESS, newest))
        assert not limiter.has_room(late)


def test_the_oldest_connection_without_a_hello_is_evicted_if_all_addresses_have_too_many(
    bench: Bench,
) -> None:
    limiter = bench.limiter()
    for number in range(MAX_UNAUTHENTICATED + 3):
        address = f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"
        limiter.open(address, bench.connection(number)).requested()
    assert bench.evicted == [0, 1, 2]


def test_a_connection_moves_to_the_address_that_its_proxy_names(bench: Bench) -> None:
    limiter = bench.limiter(behind_proxies=True)
    for number in range(MAX_UNAUTHENTICATED_PER_ADDRESS + 1):
        quota = limiter.open("", bench.connection(number))
        assert limiter.has_room(quota)
        quota.move_to(ANNA)
        quota.requested()
    assert not limiter.has_room(quota)
    assert taken(quota, Action.WRONG_CODE) == WRONG_CODES.burst
    quota.move_to(BERT)
    assert limiter.usage_of(ANNA).open == MAX_UNAUTHENTICATED_PER_ADDRESS
    assert quota not in limiter.usage_of(ANNA).unauthenticated
    assert limiter.has_room(quota)
    assert limiter.has_room(opened(limiter, BERT))
    assert bench.evicted == []


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["open", "hello", "close"]))))
def test_the_counts_are_those_of_the_open_connections(steps: list[tuple[int, str]]) -> None:
    limiter = Bench().limiter()
    quotas: dict[int, Quota] = {}
    unauthenticated: set[int] = set()
    for number, step in steps:
        if step == "open" and number not in quotas:
            quotas[number] = opened(limiter, ANNA)
            unauthenticated.add(number)
        elif step == "hello" and number in unauthenticated:
            quotas[number].authenticated("anna")
            unauthenticated.discard(number)
        elif step == "close" and number in quotas:
            quotas.pop(number).close()
            unauthenticated.discard(number)
    usage = limiter.usage_of(ANNA)
    assert usage.open == len(quotas)
    assert set(usage.unauthenticated) == {quotas[number] for number in unauthenticated}


# Forgetting


def test_a_flood_of_addresses_does_not_make_the_table_forget(bench: Bench) -> None:
    limiter = bench.limiter(capacity=64)
    guesser = opened(limiter, ANNA)
    taken(guesser, Action.WRONG_CODE)
    guesser.close()
    for number in range(5000):
        quota = opened(limiter, f"2001:db8:0:{number:x}::1")
        quota.take(Action.WRONG_CODE)
        quota.close()
    assert taken(opened(limiter, ANNA), Action.WRONG_CODE) == 0


def test_new_addresses_share_the_buckets_of_a_crowd_while_the_table_is_full(bench: Bench) -> None:
    limiter = bench.limiter(capacity=8)
    guesses = 0
    for number in range(3000):
        guesses += taken(opened(limiter, f"2001:db8:0:{number:x}::1"), Action.WRONG_CODE)
    assert guesses <= WRONG_CODES.burst * (8 + CROWD)


# The rate limiter: limits of a player, which all its connections share


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
