"""The limits of addresses and of players, and their sizes, which sixteen friends with bots must never reach."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.net.timing import Backoff
from saratoga_protocol.commands import JoinTable
from saratoga_server.client_addresses import client_address, is_loopback, network_of
from saratoga_server.config import LEAST_BURST
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS
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


def test_a_refusal_names_the_seconds_to_wait(bench: Bench) -> None:
    quota = bench.limiter().open(ANNA)
    taken(quota, Action.TABLE)
    wait = quota.take(Action.TABLE)
    assert wait == quota.wait(Action.TABLE) == pytest.approx(PER_ADDRESS[Action.TABLE].every)
    bench.now += wait
    assert quota.take(Action.TABLE) == 0


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


def test_an_address_has_a_limit_on_open_connections(bench: Bench) -> None:
    limiter = bench.limiter()
    quotas = [limiter.open(ANNA) for _ in range(MAX_CONNECTIONS_PER_ADDRESS)]
    assert quotas[-1].has_room()
    one_more = limiter.open(ANNA)
    assert not one_more.has_room()
    assert limiter.open(BERT).has_room()
    one_more.move_to(BERT)
    assert one_more.has_room()
    for _ in range(2):
        quotas[0].close()
    assert limiter.open(ANNA).has_room()
    assert not limiter.open(ANNA).has_room()


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


class Household:
    """All players behind one IP address; `refusals` counts their refusals by rate limit."""

    def __init__(self, limiter: Callable[..., RateLimiter]) -> None:
        self.seconds = 0.0
        self.refusals: Counter[str] = Counter()
        self._limiter = limiter(
            lambda: self.seconds, on_refused=lambda action: self.refusals.update([action])
        )
        self._here: dict[str, Quota] = {}
        self._numbers = count()

    def connect_all(self, *, new: bool = False) -> None:
        """Connect all players at once, each as a new player who claims a name."""
        for quota in self._here.values():
            quota.close()
        arriving = [
            (self._named(person, new), self._connects())
            for person in range(FRIENDS * (1 + BOTS_EACH))
        ]
        self._here = {}
        for player, quota in arriving:
            quota.take(Action.NEW_PLAYER)
            quota.take(Action.NAME)
            quota.authenticated(player)
            self._here[player] = quota

    def reconnect_all(self, backoff: Backoff, chance: Random, failures: int) -> None:
        """Reconnect all players after the client's backoff; each old connection closes after the new one opens."""
        calls = sorted((backoff.wait(failures + 1, chance.random), player) for player in self._here)
        began = self.seconds
        for wait, player in calls:
            self.seconds = began + wait
            quota = self._connects()
            quota.spend(1, self.seconds)
            quota.authenticated(player)
            quota.spend(COSTS[JoinTable], self.seconds)
            self._here[player].close()
            self._here[player] = quota

    def plays(self, seconds: int, commands_a_second: int) -> None:
        """Send commands at an even rate from every player, all spent from the rate limits."""
        for _ in range(seconds * commands_a_second):
            self.seconds += 1 / commands_a_second
            for quota in self._here.values():
                quota.spend(1, self.seconds)

    def pass_time(self, seconds: int) -> None:
        """Advance the simulated time without sending commands."""
        self.seconds += seconds

    def opens_a_table(self) -> None:
        self._next_player().take(Action.TABLE)

    def mistypes_a_code(self, times: int) -> None:
        for _ in range(times):
            self._next_player().take(Action.WRONG_CODE)

    def renames_a_player(self) -> None:
        self._next_player().take(Action.NAME)

    def _next_player(self) -> Quota:
        quotas = list(self._here.values())
        return quotas[next(self._numbers) % len(quotas)]

    def _named(self, person: int, new: bool) -> str:
        # a person keeps its token; a bot may have a new one every time
        is_bot = person >= FRIENDS
        return f"bot {next(self._numbers)}" if new and is_bot else f"person {person}"

    def _connects(self) -> Quota:
        quota = self._limiter.open(ANNA)
        quota.has_room()
        quota.take(Action.CONNECTION)
        return quota


def test_a_factor_multiplies_burst_and_rate() -> None:
    assert scaled({Action.PAGE: Rate(10, 6.0)}, 3) == {Action.PAGE: Rate(30, 2.0)}


def test_codes_cannot_be_guessed_from_one_address() -> None:
    """The figures of SECURITY.md: a day of guessing finds a given table with a chance of 0.4 %."""
    codes = len(FIRST_WORDS) * len(SECOND_WORDS) * NUMBERS
    rate = PER_ADDRESS[Action.WRONG_CODE]
    assert codes == 3_600_000
    a_session = rate.burst + 4 * 3600 / rate.every
    a_day = rate.burst + 24 * 3600 / rate.every
    assert a_session / codes < 0.0007
    assert a_day / codes < 0.0041


# A session of sixteen friends


@pytest.fixture
def home() -> Household:
    return Household(RateLimiter)


def test_a_household_of_friends_meets_no_limit(home: Household) -> None:
    home.connect_all()
    for _ in range(FRIENDS):
        home.opens_a_table()
        home.mistypes_a_code(times=2)
        home.renames_a_player()
        home.plays(seconds=20, commands_a_second=30)
    assert home.refusals == {}


@pytest.mark.parametrize("seed", range(3))
def test_everybody_may_reconnect_at_once_after_a_restart(home: Household, seed: int) -> None:
    home.connect_all()
    for _ in range(10):
        home.reconnect_all(Backoff(), Random(seed), failures=0)
        home.plays(seconds=20, commands_a_second=30)
    assert home.refusals == {}


def test_more_than_a_session_meets_a_limit() -> None:
    """Limits of a hundredth of the size refuse commands, so the tests above can fail."""
    cramped = Household(lambda clock, **options: RateLimiter(clock, factor=0.01, **options))
    cramped.connect_all()
    assert set(cramped.refusals) >= {"connections", "players", "names"}


def test_every_command_is_possible_under_the_smallest_limits() -> None:
    # a command that costs more than the bucket holds would be refused with "try again" for ever
    assert max(COSTS.values()) <= LEAST_BURST
    smallest = scaled(PER_ADDRESS, 0.0001)
    assert smallest[Action.COMMANDS].burst >= max(COSTS.values())


# Token buckets: burst, rate, waits and refunds


def test_a_refund_puts_tokens_back() -> None:
    bucket = TokenBucket(Rate(3, 0.1))
    assert bucket.take(3, 0.0)
    bucket.refund(2)
    assert [bucket.take(1, 0.0) for _ in range(3)] == [True, True, False]


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


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", ""])
def test_loopback_addresses_and_none_are_loopback(address: str) -> None:
    assert is_loopback(address)


@pytest.mark.parametrize("address", ["10.0.0.1", "0.0.0.0", "2001:db8::1", "localhost"])
def test_other_addresses_are_not_loopback(address: str) -> None:
    assert not is_loopback(address)


SPOOFED = "127.0.0.1, 10.0.0.1"
PROXY = "10.0.0.9"


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


@given(st.lists(st.text(max_size=20), max_size=3), st.integers(1, 3))
def test_entries_further_left_change_nothing(spoofed: list[str], proxies: int) -> None:
    real = ["198.51.100.1", "10.0.0.7", "10.0.0.8"][:proxies]
    found = client_address(PROXY, [*spoofed, ", ".join(real)], proxies)
    assert found == "198.51.100.1"


@given(st.text(), st.integers(0, 4))
def test_no_header_raises(header: str, proxies: int) -> None:
    network_of(client_address(PROXY, [header], proxies))
    network_of(header)
    is_loopback(header)
