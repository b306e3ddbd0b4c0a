"""The limits of addresses and of players, and their sizes, which sixteen friends with bots must never reach."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.net.timing import Backoff
from saratoga_protocol.commands import JoinTable
from saratoga_server.client_addresses import client_address, is_loopback, network_of
from saratoga_server.config import LEAST_BURST
from saratoga_server.limits import (
    COSTS,
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_WATCHERS_PER_ADDRESS,
    PER_ADDRESS,
    PER_PLAYER,
    Action,
    Quota,
    Rate,
    RateLimiter,
    TokenBucket,
    scaled,
)

ANNA, BERT = "203.0.113.7", "198.51.100.9"
"""Two client addresses."""
MANY = 100_000
"""More than any limit allows."""
WRONG_CODES = PER_ADDRESS[Action.WRONG_CODE]


class Bench:
    """A source of rate limiters on an invented clock; it counts their refusals."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refusals: Counter[str] = Counter()

    def limiter(self, **options: Any) -> RateLimiter:
        return RateLimiter(
            lambda: self.now, on_refused=lambda action: self.refusals.update([action]), **options
        )


@pytest.fixture
def bench() -> Bench:
    return Bench()


def taken(quota: Quota, action: Action) -> int:
    """Take tokens for the action until one is refused; return the number taken."""
    count = 0
    while quota.take(action) == 0 and count < MANY:
        count += 1
    return count


# Addresses: shared buckets, connections, bounded tables


def test_all_connections_of_an_address_share_its_buckets(bench: Bench) -> None:
    limiter = bench.limiter()
    assert taken(limiter.open(ANNA), Action.WRONG_CODE) == WRONG_CODES.burst
    assert taken(limiter.open(ANNA), Action.WRONG_CODE) == 0
    assert taken(limiter.open(BERT), Action.WRONG_CODE) == WRONG_CODES.burst
    assert bench.refusals == {"codes": 3}
    bench.now += 3 * WRONG_CODES.every
    assert taken(limiter.open(ANNA), Action.WRONG_CODE) == 3


def test_a_refused_action_takes_no_token_of_player_or_address(bench: Bench) -> None:
    limiter = bench.limiter()
    quota = limiter.open(ANNA)
    quota.authenticated("anna")
    assert taken(quota, Action.WRONG_CODE) == PER_PLAYER[Action.WRONG_CODE].burst
    left = WRONG_CODES.burst - PER_PLAYER[Action.WRONG_CODE].burst
    assert taken(limiter.open(ANNA), Action.WRONG_CODE) == left


@pytest.mark.parametrize(
    ("factor", "network", "is_limited"), [(1.0, ANNA, True), (1.0, "", False), (None, ANNA, False)]
)
def test_limits_hold_for_an_address_unless_they_are_removed(
    bench: Bench, factor: float | None, network: str, is_limited: bool
) -> None:
    limiter = bench.limiter(factor=factor)
    quotas = [limiter.open(network) for _ in range(MAX_CONNECTIONS_PER_ADDRESS + 1)]
    assert quotas[-1].has_room() is not is_limited
    assert (taken(quotas[0], Action.WRONG_CODE) < MANY) is is_limited
    assert quotas[0].may_watch_beside(quotas[:MAX_WATCHERS_PER_ADDRESS]) is not is_limited


def test_a_flood_of_addresses_does_not_make_the_table_forget(bench: Bench) -> None:
    limiter = bench.limiter(capacity=64)
    guesser = limiter.open(ANNA)
    taken(guesser, Action.WRONG_CODE)
    guesser.close()
    guesses = 0
    for number in range(5000):
        quota = limiter.open(f"2001:db8:0:{number:x}::/64")
        guesses += taken(quota, Action.WRONG_CODE)
        quota.close()
    assert taken(limiter.open(ANNA), Action.WRONG_CODE) == 0
    # all that the table has no room for share the usage of one address
    assert guesses <= WRONG_CODES.burst * (64 + 1)


# Players, whose connections share their limits


def test_a_player_has_one_command_limit_over_all_connections(bench: Bench) -> None:
    limiter = bench.limiter(rate=10, burst=12)
    one, two = limiter.open(ANNA), limiter.open(BERT)
    assert one.spend(2, 0.0)
    one.authenticated("anna")
    two.authenticated("anna")
    assert [quota.spend(2, 0.0) for quota in (one, two) * 3] == [True] * 5 + [False]
    assert bench.refusals == {"commands": 1}
    assert two.seconds_to_wait(1, 0.0) == pytest.approx(0.1)
    assert two.spend(1, 0.1)


def test_commands_beyond_the_limit_are_counted_and_forgiven_one_by_one(bench: Bench) -> None:
    quota = bench.limiter(rate=1, burst=2).open(ANNA)
    assert [quota.spend(1, 0.0) for _ in range(5)] == [True] * 2 + [False] * 3
    assert quota.overdrawn == 3
    assert [quota.spend(1, 10.0), quota.spend(1, 10.0)] == [True, True]
    assert quota.overdrawn == 1


def test_an_address_has_one_command_limit_over_all_players(bench: Bench) -> None:
    limiter = bench.limiter(rate=0)
    quotas = [limiter.open(ANNA) for _ in range(100)]
    spent = sum(quota.spend(1, 0.0) for quota in quotas for _ in range(100))
    assert spent == PER_ADDRESS[Action.COMMANDS].burst
    assert quotas[0].seconds_to_wait(1, 0.0) == pytest.approx(PER_ADDRESS[Action.COMMANDS].every)
    assert quotas[-1].overdrawn == 0, "others may have used the address's limit up"


def test_a_player_who_reconnects_finds_the_buckets_as_they_were(bench: Bench) -> None:
    limiter = bench.limiter(rate=1, burst=2)
    for spent in (2, 0, 0):
        quota = limiter.open(ANNA)
        quota.authenticated("anna")
        assert sum(quota.spend(1, bench.now) for _ in range(3)) == spent
        assert taken(quota, Action.WRONG_CODE) == 10 * spent
        quota.close()
    bench.now += 2
    quota = limiter.open(ANNA)
    quota.authenticated("anna")
    assert sum(quota.spend(1, bench.now) for _ in range(3)) == 2


def test_players_who_left_and_used_nothing_lately_make_room_for_others(bench: Bench) -> None:
    limiter = bench.limiter(rate=1, burst=2, capacity=2)
    for number in range(10):
        quota = limiter.open(ANNA)
        quota.authenticated(f"player {number}")
        assert quota.spend(2, bench.now)
        quota.close()
        bench.now += 3
    one, two = limiter.open(ANNA), limiter.open(BERT)
    one.authenticated("anna")
    two.authenticated("anna")
    assert one.spend(2, bench.now)
    assert not two.spend(1, bench.now), "both share the buckets of one player"


# The sizes of the limits, which sixteen friends with bots must never reach


FRIENDS = 16
BOTS_EACH = 3


class Household(Bench):
    """All players behind one IP address, each with a connection."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.limits = self.limiter(**options)
        self.quotas = {number: self.connect() for number in range(FRIENDS * (1 + BOTS_EACH))}

    def connect(self) -> Quota:
        quota = self.limits.open(ANNA)
        quota.has_room()
        for action in (Action.CONNECTION, Action.NEW_PLAYER, Action.NAME):
            quota.take(action)
        return quota

    def plays(self, seconds: int, commands_a_second: int) -> None:
        """Send commands at an even rate from every player."""
        for _ in range(seconds * commands_a_second):
            self.now += 1 / commands_a_second
            for quota in self.quotas.values():
                quota.spend(1, self.now)

    def reconnects(self, chance: Random) -> None:
        """Reconnect all players after the client's backoff; each old connection closes after the new one opens."""
        began = self.now
        calls = sorted((Backoff().wait(1, chance.random), number) for number in self.quotas)
        for wait, number in calls:
            self.now = began + wait
            quota = self.limits.open(ANNA)
            quota.has_room()
            quota.take(Action.CONNECTION)
            quota.authenticated(f"player {number}")
            quota.spend(COSTS[JoinTable], self.now)
            self.quotas[number].close()
            self.quotas[number] = quota


def test_a_household_of_friends_meets_no_limit() -> None:
    home, chance = Household(), Random(0)
    for number in range(FRIENDS):
        for action in (Action.TABLE, Action.WRONG_CODE, Action.WRONG_CODE, Action.NAME):
            home.quotas[number].take(action)
        home.plays(seconds=20, commands_a_second=30)
        # all at once, as after a restart of the server
        home.reconnects(chance)
    assert home.refusals == {}
    # limits of a hundredth of the size refuse, so this test can fail
    assert set(Household(factor=0.01).refusals) >= {"connections", "players", "names"}


def test_every_command_is_possible_under_the_smallest_limits() -> None:
    # a command that costs more than the bucket holds would be refused with "try again" for ever
    assert max(COSTS.values()) <= LEAST_BURST
    smallest = scaled(PER_ADDRESS, 0.0001)
    assert smallest[Action.COMMANDS].burst >= max(COSTS.values())


# Token buckets: burst, rate, waits and refunds


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


# Client addresses: the key of the limits, and the trusted entry of X-Forwarded-For


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7"),
        (" 203.0.113.7 ", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("[::ffff:203.0.113.7]:4711", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2:ffff::]:443", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unknown", ""),
        ("_hidden", ""),
        ("203.0.113", ""),
        ("203.0.113.7, 198.51.100.1", ""),
    ],
)
def test_an_ipv4_address_counts_alone_and_an_ipv6_address_by_its_64(
    address: str, counted_as: str
) -> None:
    assert network_of(address) == counted_as


SPOOFED = "127.0.0.1, 10.0.0.1"
PROXY = "10.0.0.9"


@pytest.mark.parametrize(
    ("address", "is_near"),
    [
        *((each, True) for each in ("127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "")),
        *((each, False) for each in ("10.0.0.1", "0.0.0.0", "2001:db8::1", "localhost")),
    ],
)
def test_loopback_addresses_and_none_are_loopback(address: str, is_near: bool) -> None:
    assert is_loopback(address) is is_near


@pytest.mark.parametrize(
    ("headers", "proxies", "client"),
    [
        ([SPOOFED], 0, PROXY),
        (["198.51.100.1"], 1, "198.51.100.1"),
        ([f"{SPOOFED}, 198.51.100.1"], 1, "198.51.100.1"),
        ([SPOOFED, "198.51.100.1"], 1, "198.51.100.1"),
        (["198.51.100.1, 10.0.0.8"], 2, "198.51.100.1"),
        ([f"{SPOOFED},198.51.100.1,10.0.0.8"], 2, "198.51.100.1"),
        # fewer entries than the proxies add: the connection bypassed the proxies
        (["198.51.100.1"], 2, PROXY),
        ([], 1, PROXY),
        ([""], 1, PROXY),
        (["198.51.100.1, unknown"], 1, PROXY),
        (["198.51.100.1, "], 1, PROXY),
        (["198.51.100.1;proto=http"], 1, PROXY),
        (["[2001:db8::7]:1234"], 1, "[2001:db8::7]:1234"),
    ],
)
def test_only_entries_that_trusted_proxies_wrote_are_believed(
    headers: list[str], proxies: int, client: str
) -> None:
    assert client_address(PROXY, headers, proxies) == client


@given(st.text(), st.integers(0, 4))
def test_no_header_raises(header: str, proxies: int) -> None:
    network_of(client_address(PROXY, [header], proxies))
    network_of(header)
    is_loopback(header)
