"""Who has taken how much of what the limits allow: accounts by address and by player, of this node.

The table of addresses has a bound, and only who owes nothing is forgotten: whoever comes from ever
new addresses fills the table, and from then on newcomers share the accounts of a crowd; nobody is
forgiven early. Pure: the time comes in.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from math import inf
from typing import Final, Generic, TypeVar

from msgspec import Struct, field

from saratoga_server.rate_limits.addresses import NOBODY, household, is_loopback
from saratoga_server.rate_limits.limits import (
    MOST_OF_A_PLAYER,
    MOST_OPEN,
    MOST_SILENT,
    MOST_SILENT_IN_ALL,
    MOST_WATCHERS_OF_AN_ADDRESS,
    NO_LIMITS,
    PER_ADDRESS,
    PER_PLAYER,
    Act,
    Allowance,
    Rates,
    TokenBucket,
    stretched,
)

MOST_ADDRESSES: Final = 32_768
"""Accounts kept, of about a KiB each."""

CROWD: Final = 256
"""Accounts that share who comes when the table is full."""

COMMANDS_PREPAID: Final = 16
"""Taken from the address at once, so that not every command asks it."""

LOOKED_THROUGH: Final = 8
"""Accounts that are looked at, and forgotten if they may be, when a new one is opened."""

_A = TypeVar("_A", "Account", "PlayerAccount")


class Account(Struct):
    """What one address, or one player, has taken."""

    paces: Rates
    open: int = 0
    """Connections now."""
    silent: int = 0
    """Of these, how many have not said hello."""
    unasked: "dict[Quota, None]" = field(default_factory=dict)
    """Of these, who has not even asked for anything yet, the oldest first."""
    buckets: dict[Act, TokenBucket] = field(default_factory=dict)

    def takes(self, act: Act, now: float, cost: float = 1) -> bool:
        """Whether that may be done now; if so, it is counted."""
        pace = self.paces.get(act)
        if pace is None:
            return True
        bucket = self.buckets.get(act)
        if bucket is None:
            bucket = self.buckets[act] = TokenBucket()
        return bucket.takes(pace, cost, now)

    def wait(self, act: Act, now: float, cost: float = 1) -> float:
        """Seconds until that may be done; 0: now."""
        pace, bucket = self.paces.get(act), self.buckets.get(act)
        return 0.0 if pace is None or bucket is None else bucket.wait(pace, cost, now)

    def gives_back(self, act: Act, much: float = 1) -> None:
        """What was counted was not done."""
        bucket = self.buckets.get(act)
        if bucket is not None:
            bucket.whole_at -= much * self.paces[act].every

    def owes_nothing(self, now: float) -> bool:
        """Whether it makes no difference to forget it."""
        return not self.open and all(bucket.whole_at <= now for bucket in self.buckets.values())


def _nothing() -> None:
    """Nobody is there to hear of it."""


def _nobody() -> bool:
    return False


class Quota(Struct, eq=False):
    """One connection, and the accounts that it draws on."""

    ledger: "RateLimiter"
    address: Account
    allowance: Allowance
    gives_way: Callable[[], None] = _nothing
    """Called when a newer connection needs the room."""
    is_seated: Callable[[], bool] = _nobody
    """Whether it holds a seat: then another gives way before it."""
    player: "PlayerAccount | None" = None
    prepaid: float = 0.0
    """Commands that the address has paid for already: it is asked once for many."""
    overdrawn: int = 0
    """Commands beyond its own allowance, less those within it. What the address owes may be others'."""
    has_left: bool = False

    def pays(self, cost: float, now: float) -> bool:
        """Whether a command may be carried out; if so, it is counted."""
        if not self.allowance.takes(cost, now):
            self.overdrawn += 1
            self.ledger.refused(Act.COMMANDS)
            return False
        if self.prepaid < cost:
            if not self.address.takes(Act.COMMANDS, now, COMMANDS_PREPAID):
                self.ledger.refused(Act.COMMANDS)
                return False
            self.prepaid += COMMANDS_PREPAID
        self.prepaid -= cost
        self.overdrawn = max(0, self.overdrawn - 1)
        return True

    def wait_to_pay(self, cost: float, now: float) -> float:
        """Seconds until a command that was not carried out may be."""
        lump = self.address.wait(Act.COMMANDS, now, COMMANDS_PREPAID)
        return max(self.allowance.wait(cost, now), lump if self.prepaid < cost else 0.0)

    def wait(self, act: Act) -> float:
        """Seconds until this may be done by the address and by the player; 0: now."""
        now = self.ledger.now()
        return max(account.wait(act, now) for account in self._accounts())

    def does(self, act: Act) -> float:
        """Count it, if it may be done; returns the seconds until it may be, 0: it was counted."""
        wait = self.wait(act)
        if wait:
            self.ledger.refused(act)
            return wait
        now = self.ledger.now()
        for account in self._accounts():
            account.takes(act, now)
        return 0.0

    def takes_back(self, act: Act) -> None:
        """It was nothing to count after all."""
        for account in self._accounts():
            account.gives_back(act)

    def _accounts(self) -> tuple[Account, ...]:
        if self.player is None:
            return (self.address,)
        return (self.address, self.player.account)

    def may_watch_beside(self, others: Iterable["Quota"]) -> bool:
        """Whether one more may watch where these do already."""
        beside = sum(other.address is self.address for other in others)
        return beside < self.ledger.stretched(self.address, MOST_WATCHERS_OF_AN_ADDRESS)

    def asks(self) -> None:
        """It has said what it wants, and is answered."""
        self.address.unasked.pop(self, None)

    def said_hello(self, player: str) -> None:
        """It is this player's from now on, and shares what the player may do."""
        self.ledger.said_hello(self, player)

    def lets_go(self) -> None:
        """There is nobody any more to give way."""
        self.gives_way, self.is_seated = _nothing, _nobody

    def left(self) -> None:
        """The connection has ended."""
        self.ledger.left(self)


class PlayerAccount(Struct):
    """A player who is here, by one connection or several, or was a moment ago."""

    account: Account
    allowance: Allowance
    visitors: list[Quota] = field(default_factory=list)
    """The oldest first."""

    def owes_nothing(self, now: float) -> bool:
        """Whether it makes no difference to forget it."""
        owes = self.account.owes_nothing(now) and self.allowance.is_whole(now)
        return owes and not self.visitors


class Book(Generic[_A]):
    """Accounts by name. Those that were not asked for longest, and owe nothing, are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._accounts: dict[str, _A] = {}

    def __len__(self) -> int:
        return len(self._accounts)

    def find(self, name: str) -> _A | None:
        """The account of that name, which is the last to be forgotten from now on."""
        account = self._accounts.pop(name, None)
        if account is not None:
            self._accounts[name] = account
        return account

    def open(self, name: str, account: _A, now: float) -> bool:
        """Write down a new one; False if there is no room."""
        for oldest in list(islice(self._accounts, LOOKED_THROUGH)):
            known = self._accounts.pop(oldest)
            if not known.owes_nothing(now):
                self._accounts[oldest] = known  # at the end: others are looked at next time
        if len(self._accounts) >= self._most:
            return False
        self._accounts[name] = account
        return True


class RateLimiter:
    """The accounts of this node.

    `factor` stretches what an address may do; `None`: anything. `rate` and `burst` are commands of a
    player. `behind_proxies`: the addresses are clients' own though they come from this machine.
    """

    def __init__(
        self,
        steady: Callable[[], float],
        *,
        factor: float | None = 1.0,
        rate: float = 50,
        burst: float = 100,
        behind_proxies: bool = False,
        per_player: Rates = PER_PLAYER,
        most: int = MOST_ADDRESSES,
        on_refused: Callable[[str], None] = lambda what: None,
    ) -> None:
        self._steady = steady
        self._factor = factor
        self._rate, self._burst = rate, burst
        self._behind_proxies = behind_proxies
        self._on_refused = on_refused
        self._paces = NO_LIMITS if factor is None else stretched(PER_ADDRESS, factor)
        self._players_paces = per_player
        self._addresses: Book[Account] = Book(most)
        self._crowd: dict[int, Account] = {}
        self._players: Book[PlayerAccount] = Book(most)
        self._silent: dict[Quota, None] = {}

    @property
    def kept(self) -> int:
        """How many accounts there are."""
        return len(self._addresses) + len(self._crowd) + len(self._players)

    def now(self) -> float:
        """Seconds, by a clock that never steps."""
        return self._steady()

    def refused(self, act: Act) -> None:
        """Somebody has met a limit."""
        self._on_refused(act.value)

    def quota(self, address: str, gives_way: Callable[[], None] = lambda: None) -> Quota:
        """Somebody has called from there.

        Where too many stand who say nothing, the oldest of those who have not asked for anything
        gives way; where all have asked, whoever asks next is told no (`has_room_for`).
        """
        account = self._of_address(address)
        account.open += 1
        account.silent += 1
        quota = Quota(self, account, Allowance(self._rate, self._burst), gives_way)
        self._silent[quota] = account.unasked[quota] = None
        if self._is_crowded(account):
            self.refused(Act.CONNECTION)
            self._lets_go(next(iter(account.unasked)))
        if len(self._silent) > MOST_SILENT_IN_ALL:
            self._lets_go(next(iter(self._silent)))
        return quota

    def stretched(self, account: Account, most: int) -> float:
        """How many that account may have where an address may have so many."""
        if self._factor is None or account.paces is NO_LIMITS:
            return inf
        return most * self._factor

    def _is_crowded(self, account: Account) -> bool:
        return len(account.unasked) > 1 and account.silent > self.stretched(account, MOST_SILENT)

    def _lets_go(self, quota: Quota) -> None:
        self._speaks(quota)
        quota.gives_way()

    def has_room_for(self, quota: Quota) -> bool:
        """Whether the address has no more connections than it may; this one is counted already."""
        account = quota.address
        is_full = account.open > self.stretched(account, MOST_OPEN)
        if is_full or account.silent > self.stretched(account, MOST_SILENT):
            self.refused(Act.CONNECTION)
            return False
        return True

    def said_hello(self, quota: Quota, player: str) -> None:
        """The connection is this player's; the player's oldest gives way if it is one too many."""
        self._speaks(quota)
        known = self._players.find(player)
        if known is None:
            account = Account(self._players_paces)
            known = PlayerAccount(account, quota.allowance)
            # where there is no room it lasts as long as the connection
            self._players.open(player, known, self._steady())
        quota.player, quota.allowance = known, known.allowance
        known.visitors.append(quota)
        if len(known.visitors) > MOST_OF_A_PLAYER:
            oldest = next((v for v in known.visitors if not v.is_seated()), known.visitors[0])
            known.visitors.remove(oldest)
            oldest.gives_way()

    def left(self, quota: Quota) -> None:
        """The connection has ended."""
        if quota.has_left:
            return
        quota.has_left = True
        self._speaks(quota)
        quota.address.open -= 1
        quota.address.gives_back(Act.COMMANDS, quota.prepaid)
        known = quota.player
        if known is not None and quota in known.visitors:
            known.visitors.remove(quota)

    def _speaks(self, quota: Quota) -> None:
        quota.asks()
        if quota in self._silent:
            del self._silent[quota]
            quota.address.silent -= 1

    def _of_address(self, address: str) -> Account:
        name = household(address)
        if self._factor is None or name == NOBODY:
            return Account(NO_LIMITS)
        if not self._behind_proxies and is_loopback(address):
            return Account(NO_LIMITS)
        account = self._addresses.find(name)
        if account is None:
            account = Account(self._paces)
            if not self._addresses.open(name, account, self._steady()):
                return self._crowd.setdefault(hash(name) % CROWD, account)
        return account


def unlimited() -> Quota:
    """A visitor who may do anything."""
    return RateLimiter(lambda: 0.0, factor=None, rate=0, per_player=NO_LIMITS).quota(NOBODY)
