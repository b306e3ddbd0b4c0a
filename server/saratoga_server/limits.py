"""The limits of a client: of its connection, of its player, and of the address that it comes from.

They are large enough for sixteen friends behind one address with three bots each, even if the
server restarts during a race or the store is unavailable for a minute (tests/server/test_limits.py
proves it).
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from itertools import islice
from math import inf
from typing import Final

from msgspec import Struct, field

from saratoga_protocol.commands import (
    AddBot,
    ChangeSettings,
    ClaimName,
    CreateTable,
    GetLeaderboard,
    GetPar,
    GetRecord,
    JoinTable,
    Kick,
    ListTables,
    NotReady,
    Ready,
)


class Action(StrEnum):
    """A limited action; the value is its name in the metrics."""

    CONNECTION = "connections"
    """A new connection, HTTP or WebSocket, but for files of the page."""
    STATIC = "files"
    """A file of the page."""
    REPLAY = "replays"
    """The boards of a finished race."""
    PAGE = "pages"
    """A page over plain HTTP."""
    COMMANDS = "commands"
    HELLO_REFUSED = "hellos"
    NEW_PLAYER = "players"
    """A hello with an unknown token."""
    NAME = "names"
    """A request for a name, granted or not."""
    TABLE = "tables"
    """A new table."""
    ENTRY = "entries"
    """A run in an open race."""
    WRONG_CODE = "codes"
    """A request for a table that does not exist."""
    CHANGE = "changes"
    """A change of a table, which is sent to everyone at that table."""
    REACTION = "reactions"
    """A reaction, which is sent to everyone at that table."""


class Rate(Struct, frozen=True):
    """The size of a token bucket, and the seconds until one token comes back."""

    burst: float
    every: float


UNLIMITED: Final = Rate(0, 0.0)
"""The rate without a limit: tokens come back at once."""

Rates = Mapping[Action, Rate]
"""The rates by action; an action that is missing has no limit."""

PER_ADDRESS: Final[Rates] = {
    Action.CONNECTION: Rate(512, 1 / 128),
    Action.STATIC: Rate(2048, 1 / 256),
    Action.REPLAY: Rate(96, 1.0),
    Action.PAGE: Rate(120, 1 / 10),
    Action.COMMANDS: Rate(8192, 1 / 2048),
    Action.HELLO_REFUSED: Rate(120, 1.0),
    Action.NEW_PLAYER: Rate(200, 10.0),
    Action.NAME: Rate(200, 5.0),
    Action.TABLE: Rate(100, 5.0),
    Action.ENTRY: Rate(240, 30.0),
    Action.WRONG_CODE: Rate(60, 6.0),
}

PER_PLAYER: Final[Rates] = {
    Action.NAME: Rate(10, 30.0),
    Action.TABLE: Rate(20, 5.0),
    Action.WRONG_CODE: Rate(20, 6.0),
    Action.CHANGE: Rate(120, 0.5),
    Action.REACTION: Rate(3, 2.0),
}
"""The rates of a player. Commands are missing, because `--rate` and `--burst` set their rate."""

NO_LIMITS: Final[Rates] = {}

MAX_CONNECTIONS_PER_ADDRESS: Final = 256
MAX_CONNECTIONS_PER_PLAYER: Final = 16

MAX_WATCHERS: Final = 200
"""Connections that follow one table without a seat."""

MAX_WATCHERS_PER_ADDRESS: Final = 50
"""Connections of one address among the watchers of one table."""

MAX_ENTRIES: Final = 32_768
"""The most addresses, and the most players, whose usage is kept; about 1 KiB each."""

CHECKED_PER_INSERT: Final = 8
"""The number of oldest entries that each new one checks, and drops if they are unused."""

BYTES_OF_A_COMMAND: Final = 1024
"""Bytes of a frame that count as one command. Saratoga's own frames are below 300 bytes."""

COSTS: Final[Mapping[type[Struct], int]] = {
    GetRecord: 10,
    GetPar: 5,
    JoinTable: 5,
    CreateTable: 5,
    AddBot: 5,
    ChangeSettings: 5,
    ListTables: 5,
    GetLeaderboard: 5,
    ClaimName: 3,
    Kick: 3,
    Ready: 2,
    NotReady: 2,
}
"""Tokens of a command that takes more work than a move; every other command costs 1."""

ROUNDING: Final = 1e-6
"""Waiting times below this many seconds count as 0, because of rounding."""


def scaled(rates: Rates, factor: float) -> Rates:
    """Return the rates for `factor` times as many people; a bucket holds what is taken at once."""
    return {
        action: Rate(
            max(max(COSTS.values()) if action is Action.COMMANDS else 1.0, rate.burst * factor),
            rate.every / factor,
        )
        for action, rate in rates.items()
    }


class TokenBucket:
    """A token bucket whose whole state is the time at which it will be full again.

    The caller passes the time, in seconds of a clock that never steps.
    """

    __slots__ = ("_full_at", "_rate")

    def __init__(self, rate: Rate) -> None:
        self._rate = rate
        self._full_at = -inf

    def take(self, cost: float, now: float) -> bool:
        """Take `cost` tokens if the bucket has them; return whether it did."""
        rate = self._rate
        full_at = self._full_at
        if full_at < now:
            full_at = now
        full_at += cost * rate.every
        if full_at - now - rate.burst * rate.every > ROUNDING:
            return False
        self._full_at = full_at
        return True

    def seconds_to_wait(self, cost: float, now: float) -> float:
        """Return the seconds until the bucket has `cost` tokens; 0 if it has them now."""
        every = self._rate.every
        wait = max(self._full_at, now) + cost * every - now - self._rate.burst * every
        return wait if wait > ROUNDING else 0.0

    def refund(self, tokens: float) -> None:
        """Put this number of tokens back into the bucket."""
        self._full_at -= tokens * self._rate.every

    def is_full(self, now: float) -> bool:
        return self._full_at <= now


class Usage(Struct, eq=False):
    """The usage of one address or one player, which all its connections share."""

    rates: Rates
    commands: TokenBucket
    factor: float = inf
    """The multiplier of an address's limits on connections and watchers; `inf`: no limits."""
    buckets: dict[Action, TokenBucket] = field(default_factory=dict)
    """The buckets of the other actions, created when first needed."""
    quotas: "set[Quota]" = field(default_factory=set)
    """The open connections."""

    def bucket(self, action: Action) -> TokenBucket | None:
        """Return the bucket of an action, or `None` if the action has no limit."""
        bucket = self.buckets.get(action)
        if bucket is None and (rate := self.rates.get(action)) is not None:
            bucket = self.buckets[action] = TokenBucket(rate)
        return bucket

    def is_unused(self, now: float) -> bool:
        """Return whether the usage equals a new one, so that it can be dropped."""
        buckets = (self.commands, *self.buckets.values())
        return not self.quotas and all(bucket.is_full(now) for bucket in buckets)


class Quota(Struct, eq=False):
    """One connection's share of the limits."""

    limiter: "RateLimiter"
    address: Usage
    player: Usage
    overdrawn: int = 0
    """Commands beyond the player's limit, minus later ones within it. Commands beyond the limit of
    the address do not count, because others share that limit."""

    def move_to(self, network: str) -> None:
        """Count the connection at the address that its proxy named (`RateLimiter.usage_of`)."""
        self.address.quotas.discard(self)
        self.address = self.limiter.usage_of(network)
        self.address.quotas.add(self)

    def has_room(self, times: int = 1) -> bool:
        """Return whether the address has at most so many times its connections, with this one."""
        most = times * MAX_CONNECTIONS_PER_ADDRESS * self.address.factor
        if len(self.address.quotas) <= most:
            return True
        self.limiter.count_refusal(Action.CONNECTION)
        return False

    def authenticated(self, player: str) -> None:
        """Count the connection as this player's, unless it closed while its hello was answered."""
        if self in self.address.quotas:
            self.player = self.limiter.usage_of_player(player, self.player.commands)
            self.player.quotas.add(self)

    def close(self) -> None:
        """Stop counting the connection."""
        self.address.quotas.discard(self)
        self.player.quotas.discard(self)

    def spend(self, cost: float, now: float) -> bool:
        """Take the tokens for a command from player and address; return whether both had enough."""
        if not self.player.commands.take(cost, now):
            self.overdrawn += 1
        elif self.address.commands.take(cost, now):
            if self.overdrawn:
                self.overdrawn -= 1
            return True
        self.limiter.count_refusal(Action.COMMANDS)
        return False

    def seconds_to_wait(self, cost: float, now: float) -> float:
        """Return the seconds until a refused command may be repeated."""
        buckets = (self.player.commands, self.address.commands)
        return max(bucket.seconds_to_wait(cost, now) for bucket in buckets)

    def wait(self, action: Action) -> float:
        """Return the seconds until address and player may perform the action; 0 if they may now."""
        now = self.limiter.now()
        waits = (bucket.seconds_to_wait(1, now) for bucket in self._buckets(action))
        return max(waits, default=0.0)

    def take(self, action: Action) -> float:
        """Take a token of address and player if `wait` is 0; return the wait."""
        wait = self.wait(action)
        if wait:
            self.limiter.count_refusal(action)
            return wait
        for bucket in self._buckets(action):
            bucket.take(1, self.limiter.now())
        return 0.0

    def refund(self, action: Action) -> None:
        """Put the token of the last `take` back."""
        for bucket in self._buckets(action):
            bucket.refund(1)

    def may_watch_beside(self, others: Iterable["Quota"]) -> bool:
        """Return whether the address may have one more watcher at a table with these watchers."""
        beside = sum(other.address is self.address for other in others)
        return beside < MAX_WATCHERS_PER_ADDRESS * self.address.factor

    @property
    def is_limited_by_address(self) -> bool:
        """True if limits per address hold for this connection."""
        return self.address.factor < inf

    def _buckets(self, action: Action) -> list[TokenBucket]:
        buckets = (self.address.bucket(action), self.player.bucket(action))
        return [bucket for bucket in buckets if bucket is not None]


class RateLimiter:
    """The usage of every address and every player of this process."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        factor: float | None = 1.0,
        rate: float = 50,
        burst: float = 100,
        per_player: Rates = PER_PLAYER,
        capacity: int = MAX_ENTRIES,
        on_refused: Callable[[Action], None] = lambda action: None,
    ) -> None:
        """Set the limits.

        `factor` multiplies every limit of an address; `None` removes them. `rate` is a player's
        commands per second, `burst` the most at once; rate 0 removes this limit. `on_refused` is
        called with the action of each refused request.
        """
        self.now = clock
        self.count_refusal = on_refused
        self._factor = factor
        self._commands = Rate(burst, 1 / rate) if rate else UNLIMITED
        self._per_address = scaled(PER_ADDRESS, factor or 1.0)
        self._per_player = per_player
        self._capacity = capacity
        self._addresses: dict[str, Usage] = {}
        self._others = self._new_address()
        """The usage of all further addresses while the table is full."""
        self._players: dict[str, Usage] = {}

    def open(self, network: str) -> Quota:
        """Count a new connection, and return its quota; see `usage_of`."""
        player = Usage(NO_LIMITS, TokenBucket(self._commands))
        quota = Quota(self, self.usage_of(network), player)
        quota.address.quotas.add(quota)
        return quota

    def usage_of(self, network: str) -> Usage:
        """Return the usage of an address, as `network_of` returns it; empty: it has no limits."""
        if self._factor is None or not network:
            return Usage(NO_LIMITS, TokenBucket(UNLIMITED))
        usage = self._addresses.get(network)
        if usage is None:
            usage = self._new_address()
            if not self._insert(self._addresses, network, usage):
                return self._others
        return usage

    def usage_of_player(self, name: str, commands: TokenBucket) -> Usage:
        """Return the usage of a player; the commands of a new one are those of the connection."""
        usage = self._players.get(name)
        if usage is None:
            usage = Usage(self._per_player, commands)
            # if the table is full, the usage lasts as long as the connection
            self._insert(self._players, name, usage)
        return usage

    def _new_address(self) -> Usage:
        commands = TokenBucket(self._per_address[Action.COMMANDS])
        return Usage(self._per_address, commands, self._factor or inf)

    def _insert(self, usages: dict[str, Usage], name: str, usage: Usage) -> bool:
        """Add a usage if there is room; return whether there was. Only unused ones make room."""
        now = self.now()
        for oldest in list(islice(usages, CHECKED_PER_INSERT)):
            checked = usages.pop(oldest)
            if not checked.is_unused(now):
                usages[oldest] = checked  # at the end, so that the next insert checks others
        if len(usages) >= self._capacity:
            return False
        usages[name] = usage
        return True


def unlimited() -> Quota:
    """Return a quota without limits."""
    limiter = RateLimiter(lambda: 0.0, factor=None, rate=0, per_player=NO_LIMITS)
    return limiter.open("")
