"""The sizes of the limits, which sixteen friends with bots must never reach."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random

import pytest

from saratoga_client.net.backoff import Backoff
from saratoga_protocol.commands import Resume
from saratoga_server.config import LEAST_BURST
from saratoga_server.domain.table_codes import FIRST_WORDS, NUMBERS, SECOND_WORDS
from saratoga_server.rate_limits.limiter import NO_CONNECTION, Quota, RateLimiter
from saratoga_server.rate_limits.rates import (
    COMMANDS_PREPAID,
    COSTS,
    PER_ADDRESS,
    Action,
    Rate,
    scaled,
)

FRIENDS = 16
BOTS_EACH = 3
ADDRESS = "203.0.113.7"


class Household:
    """All players behind one IP address; `refusals` counts their refusals by rate limit."""

    def __init__(self, limiter: Callable[..., RateLimiter]) -> None:
        self.seconds = 0.0
        self.refusals: Counter[str] = Counter()
        self._limiter = limiter(lambda: self.seconds, refusals=self.refusals)
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
            quota.spend(COSTS[Resume], self.seconds)
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


def test_a_small_factor_leaves_one_token() -> None:
    assert scaled({Action.PAGE: Rate(10, 6.0)}, 0.01) == {Action.PAGE: Rate(1, 600.0)}


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


def test_everybody_may_retry_while_the_store_is_away_for_a_minute(home: Household) -> None:
    home.connect_all()
    chance = Random(1)
    for _ in range(120):
        home.reconnect_all(Backoff(), chance, failures=8)
    assert home.seconds > 30
    assert home.refusals == {}


def test_new_bots_every_quarter_of_an_hour_meet_no_limit(home: Household) -> None:
    for _ in range(20):
        home.connect_all(new=True)
        home.pass_time(seconds=900)
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
