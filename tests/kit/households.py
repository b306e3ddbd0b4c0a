"""Friends behind one address, with their bots, as the limits see them: no sockets, invented time."""

from collections import Counter
from collections.abc import Callable
from itertools import count
from random import Random

from saratoga_client.backoff import Backoff
from saratoga_protocol.commands import Resume
from saratoga_server.rate_limits.limiter import NO_CONNECTION, Quota, RateLimiter
from saratoga_server.rate_limits.rates import COSTS, Action

FRIENDS = 16
BOTS_EACH = 3
ADDRESS = "203.0.113.7"


class Household:
    """Everybody at one address; `refusals` names every limit that anyone met."""

    def __init__(self, ledger: Callable[..., RateLimiter]) -> None:
        self.seconds = 0.0
        self.refusals: Counter[str] = Counter()
        self._ledger = ledger(lambda: self.seconds, refusals=self.refusals)
        self._here: dict[str, Quota] = {}
        self._numbers = count()

    def everybody_comes(self, *, new: bool = False) -> None:
        """All connect in the same moment and say hello under a new name; they know no token yet."""
        for visitor in self._here.values():
            visitor.close()
        arriving = [
            (self._named(person, new), self._calls()) for person in range(FRIENDS * (1 + BOTS_EACH))
        ]
        self._here = {}
        for player, visitor in arriving:
            visitor.take(Action.NEW_PLAYER)
            visitor.take(Action.NAME)
            visitor.authenticated(player)
            self._here[player] = visitor

    def everybody_reconnects(self, backoff: Backoff, chance: Random, failures: int) -> None:
        """All lose their connection and call again after the program's wait, the old one lingering."""
        calls = sorted((backoff.wait(failures + 1, chance.random), player) for player in self._here)
        began = self.seconds
        for wait, player in calls:
            self.seconds = began + wait
            visitor = self._calls()
            visitor.spend(1, self.seconds)
            visitor.authenticated(player)
            visitor.spend(COSTS[Resume], self.seconds)
            self._here[player].left()
            self._here[player] = visitor

    def plays(self, seconds: int, commands_a_second: int) -> None:
        """Everybody at once sends so many commands a second, evenly."""
        for _ in range(seconds * commands_a_second):
            self.seconds += 1 / commands_a_second
            for visitor in self._here.values():
                visitor.spend(1, self.seconds)

    def passes(self, seconds: int) -> None:
        """Nobody does anything."""
        self.seconds += seconds

    def opens_a_table(self) -> None:
        self._somebody().take(Action.TABLE)

    def mistypes_a_code(self, times: int) -> None:
        for _ in range(times):
            self._somebody().take(Action.WRONG_CODE)

    def renames_somebody(self) -> None:
        self._somebody().take(Action.NAME)

    def _somebody(self) -> Quota:
        visitors = list(self._here.values())
        return visitors[next(self._numbers) % len(visitors)]

    def _named(self, person: int, new: bool) -> str:
        # people keep their token; a bot may have a new one every time
        is_bot = person >= FRIENDS
        return f"bot {next(self._numbers)}" if new and is_bot else f"person {person}"

    def _calls(self) -> Quota:
        visitor = self._ledger.open(ADDRESS, NO_CONNECTION)
        self._ledger.has_room(visitor)
        visitor.take(Action.CONNECTION)
        return visitor
