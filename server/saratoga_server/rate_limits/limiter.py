"""The rate limiter of this process: token buckets and connection counts per address and per player.

The table of addresses is bounded. If connections from very many addresses fill it, further
addresses share a fixed number of usages (the crowd), and no address gets its tokens back early.
"""

from collections.abc import Callable, Iterable
from math import inf
from typing import Final, Protocol

from msgspec import Struct, field

from saratoga_server.rate_limits.addresses import NO_ADDRESS, is_loopback, network_of
from saratoga_server.rate_limits.rates import (
    COMMANDS_PREPAID,
    MAX_CONNECTIONS_PER_ADDRESS,
    MAX_CONNECTIONS_PER_PLAYER,
    MAX_UNAUTHENTICATED,
    MAX_UNAUTHENTICATED_PER_ADDRESS,
    MAX_WATCHERS_PER_ADDRESS,
    NO_LIMITS,
    PER_ADDRESS,
    PER_PLAYER,
    UNLIMITED,
    Action,
    Rate,
    Rates,
    scaled,
)
from saratoga_server.rate_limits.token_buckets import TokenBucket, Usage, UsageTable

MAX_ENTRIES: Final = 32_768
"""The most addresses, and the most players, whose usage is kept; about 1 KiB each."""

CROWD: Final = 256
"""The number of usages that new addresses share while the table is full."""


class Evictable(Protocol):
    """A connection that the limiter can close."""

    @property
    def holds_seat(self) -> bool:
        """True if the connection holds a seat; such a connection is evicted last."""
        ...

    def evict(self) -> None:
        """Close the connection to make room for a newer one."""
        ...


class NoConnection:
    """A stand-in for a connection that is closed."""

    holds_seat: Final = False

    def evict(self) -> None:
        """Do nothing."""


NO_CONNECTION: Final = NoConnection()


class AddressUsage(Usage):
    """The usage of one address."""

    factor: float = inf
    """The multiplier of the address's limits on connections and watchers; `inf`: no limits."""
    unauthenticated: "dict[Quota, None]" = field(default_factory=dict)
    """Open connections before their hello, oldest first."""


class PlayerUsage(Usage):
    """The usage of one player, or of one connection before its hello."""

    quotas: "list[Quota]" = field(default_factory=list)
    """The player's connections, oldest first."""


class Quota(Struct, eq=False):
    """One connection's share of the limits of its address and of its player."""

    limiter: "RateLimiter"
    connection: Evictable
    address: AddressUsage
    player: PlayerUsage
    prepaid: float = 0.0
    """Tokens taken from the address and not used yet."""
    overdrawn: int = 0
    """Commands beyond the player's limit, minus later ones within it. Commands beyond the limit of the
    address do not count, because others share that limit."""
    has_requested: bool = False
    is_open: bool = True

    def move_to(self, address: str) -> None:
        """Count a connection before its hello at the address that its proxy has named."""
        self._leave_address()
        self.address = self.limiter.usage_of(address)
        self.limiter.count(self)

    def requested(self) -> None:
        """Record that the connection has sent a request: it will be answered, not evicted."""
        self.has_requested = True

    def authenticated(self, player: str) -> None:
        """Count the connection as this player's; if the player has too many, evict one.

        Does nothing for a connection that has closed while its hello was answered.
        """
        if not self.is_open:
            return
        self.limiter.forget_unauthenticated(self)
        self.player = self.limiter.usage_of_player(player, self.player.commands)
        self.player.open += 1
        quotas = self.player.quotas
        quotas.append(self)
        if len(quotas) > MAX_CONNECTIONS_PER_PLAYER:
            evicted = next((q for q in quotas if not q.connection.holds_seat), quotas[0])
            quotas.remove(evicted)
            evicted.connection.evict()

    def close(self) -> None:
        """Stop counting the connection. A second call does nothing."""
        if not self.is_open:
            return
        self.is_open = False
        self.connection = NO_CONNECTION
        self._leave_address()
        self.player.open -= 1
        if self in self.player.quotas:
            self.player.quotas.remove(self)

    def spend(self, cost: float, now: float) -> bool:
        """Take the tokens for a command from player and address; return whether both had enough."""
        if not self.player.commands.take(cost, now):
            self.overdrawn += 1
            self.limiter.count_refusal(Action.COMMANDS)
            return False
        if self.prepaid < cost:
            if not self.address.commands.take(COMMANDS_PREPAID, now):
                self.limiter.count_refusal(Action.COMMANDS)
                return False
            self.prepaid += COMMANDS_PREPAID
        self.prepaid -= cost
        if self.overdrawn:
            self.overdrawn -= 1
        return True

    def penalise(self, cost: float, now: float) -> None:
        """Take further tokens from the player, if any, for a frame that is no command."""
        self.player.commands.take(cost, now)

    def seconds_to_wait(self, cost: float, now: float) -> float:
        """Return the seconds until a refused command may be repeated."""
        wait = self.player.commands.seconds_to_wait(cost, now)
        if self.prepaid >= cost:
            return wait
        return max(wait, self.address.commands.seconds_to_wait(COMMANDS_PREPAID, now))

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

    def _leave_address(self) -> None:
        self.limiter.forget_unauthenticated(self)
        self.address.open -= 1
        self.address.commands.refund(self.prepaid)
        self.prepaid = 0.0

    def _buckets(self, action: Action) -> list[TokenBucket]:
        buckets = (self.address.bucket(action), self.player.bucket(action))
        return [bucket for bucket in buckets if bucket is not None]


class RateLimiter:
    """The usage of every address and every player, and the connections without a hello."""

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        factor: float | None = 1.0,
        rate: float = 50,
        burst: float = 100,
        behind_proxies: bool = False,
        per_player: Rates = PER_PLAYER,
        capacity: int = MAX_ENTRIES,
        on_refused: Callable[[Action], None] = lambda action: None,
    ) -> None:
        """Set the limits.

        `factor` multiplies every limit of an address; `None` removes them. `rate` is a player's commands
        per second, `burst` the most at once; rate 0 removes this limit. With `behind_proxies` loopback
        addresses are limited too, because a proxy sends the client's address. `on_refused`
        is called with the action of each refused request.
        """
        self.now = clock
        self._factor = factor
        self._commands = Rate(burst, 1 / rate) if rate else UNLIMITED
        self._behind_proxies = behind_proxies
        self._per_address = scaled(PER_ADDRESS, factor or 1.0)
        self._per_player = per_player
        self._addresses = UsageTable[AddressUsage](capacity)
        self._crowd: dict[int, AddressUsage] = {}
        self._players = UsageTable[PlayerUsage](capacity)
        self._unauthenticated: dict[Quota, None] = {}
        self.count_refusal = on_refused

    def open(self, address: str, connection: Evictable) -> Quota:
        """Count a new connection and return its quota; evict one if too many sent no hello."""
        player = PlayerUsage(NO_LIMITS, TokenBucket(self._commands), open=1)
        quota = Quota(self, connection, self.usage_of(address), player)
        self.count(quota)
        return quota

    def count(self, quota: Quota) -> None:
        """Count a connection at its address, and evict one if too many sent no hello.

        If all others of the address have sent a request, `has_room` refuses this one.
        """
        address = quota.address
        address.open += 1
        self._unauthenticated[quota] = address.unauthenticated[quota] = None
        if len(address.unauthenticated) > MAX_UNAUTHENTICATED_PER_ADDRESS * address.factor:
            silent = (each for each in address.unauthenticated if not each.has_requested)
            oldest = next(silent, quota)
            if oldest is not quota:
                self.count_refusal(Action.CONNECTION)
                self._evict(oldest)
        if len(self._unauthenticated) > MAX_UNAUTHENTICATED:
            self._evict(next(iter(self._unauthenticated)))

    def forget_unauthenticated(self, quota: Quota) -> None:
        """Stop counting a connection as unauthenticated."""
        self._unauthenticated.pop(quota, None)
        quota.address.unauthenticated.pop(quota, None)

    def has_room(self, quota: Quota) -> bool:
        """Return whether the address has not too many connections, including this one."""
        address = quota.address
        has_room = (
            address.open <= MAX_CONNECTIONS_PER_ADDRESS * address.factor
            and len(address.unauthenticated) <= MAX_UNAUTHENTICATED_PER_ADDRESS * address.factor
        )
        if not has_room:
            self.count_refusal(Action.CONNECTION)
        return has_room

    def usage_of(self, address: str) -> AddressUsage:
        """Return the usage of an address; a shared one while the table is full."""
        network = network_of(address)
        is_local = not self._behind_proxies and is_loopback(address)
        if self._factor is None or network == NO_ADDRESS or is_local:
            return AddressUsage(NO_LIMITS, TokenBucket(UNLIMITED))
        usage = self._addresses.find(network)
        if usage is not None:
            return usage
        commands = TokenBucket(self._per_address[Action.COMMANDS])
        usage = AddressUsage(self._per_address, commands, factor=self._factor)
        if self._addresses.insert(network, usage, self.now()):
            return usage
        return self._crowd.setdefault(hash(network) % CROWD, usage)

    def usage_of_player(self, name: str, commands: TokenBucket) -> PlayerUsage:
        """Return the usage of a player; the commands of a new one are those of the connection."""
        usage = self._players.find(name)
        if usage is None:
            usage = PlayerUsage(self._per_player, commands)
            # if the table is full, the usage lasts as long as the connection
            self._players.insert(name, usage, self.now())
        return usage

    def _evict(self, quota: Quota) -> None:
        self.forget_unauthenticated(quota)
        quota.connection.evict()


def unlimited() -> Quota:
    """Return a quota without limits."""
    limiter = RateLimiter(lambda: 0.0, factor=None, rate=0, per_player=NO_LIMITS)
    return limiter.open(NO_ADDRESS, NO_CONNECTION)
