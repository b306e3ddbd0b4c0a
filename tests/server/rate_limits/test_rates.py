"""Addresses, buckets and the sizes of the limits, which sixteen friends with bots must never reach."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saratoga_client.net.timing import Backoff
from saratoga_protocol.commands import JoinTable
from saratoga_server.config import LEAST_BURST
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS
from saratoga_server.rate_limits.addresses import client_address, is_loopback, network_of
from saratoga_server.rate_limits.limiter import NO_CONNECTION, Quota, RateLimiter
from saratoga_server.rate_limits.rates import (
    COMMANDS_PREPAID,
    COSTS,
    PER_ADDRESS,
    Action,
    Rate,
    scaled,
)
from saratoga_server.rate_limits.token_buckets import TokenBucket

# The sizes of the limits, which sixteen friends with bots must never reach


FRIENDS = 16
BOTS_EACH = 3
ADDRESS = "203.0.113.7"


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
        quota = self._limiter.open(ADDRESS, NO_CONNECTION)
        self._limiter.has_room(quota)
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
    assert smallest[Action.COMMANDS].burst >= COMMANDS_PREPAID >= max(COSTS.values())


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
