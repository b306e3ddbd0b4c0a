"""A simulated load for the rate limiter: friends and their bots behind one IP address."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random

from saratoga_client.net.backoff import Backoff
from saratoga_protocol.commands import Resume
from saratoga_server.rate_limits.limiter import NO_CONNECTION, Quota, RateLimiter
from saratoga_server.rate_limits.rates import COSTS, Action

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
