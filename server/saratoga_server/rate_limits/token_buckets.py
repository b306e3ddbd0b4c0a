"""Token buckets, and a bounded LRU of them.

Pure: the caller passes the time, in seconds of a clock that never steps.
"""

from itertools import islice
from math import inf
from typing import Final, Generic, TypeVar

from msgspec import Struct, field

from saratoga_server.rate_limits.rates import Action, Rate, Rates

ROUNDING: Final = 1e-6
"""Waiting times below this many seconds count as 0, because of rounding."""

CHECKED_PER_INSERT: Final = 8
"""The number of oldest entries that an insert into the LRU checks, and drops if they are unused."""


class TokenBucket:
    """A token bucket whose whole state is the time at which it will be full again."""

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
        """Return whether the bucket is full."""
        return self._full_at <= now


class Usage(Struct, eq=False):
    """The usage of one address or one player: its token buckets and open connections."""

    rates: Rates
    commands: TokenBucket
    buckets: dict[Action, TokenBucket] = field(default_factory=dict)
    """The buckets of the other actions, created when first needed."""
    open: int = 0
    """The number of open connections."""

    def bucket(self, action: Action) -> TokenBucket | None:
        """Return the bucket of an action, or `None` if the action has no limit."""
        bucket = self.buckets.get(action)
        if bucket is None and (rate := self.rates.get(action)) is not None:
            bucket = self.buckets[action] = TokenBucket(rate)
        return bucket

    def is_unused(self, now: float) -> bool:
        """Return whether the usage equals a new one, so that it can be dropped."""
        buckets = (self.commands, *self.buckets.values())
        return not self.open and all(bucket.is_full(now) for bucket in buckets)


_U = TypeVar("_U", bound=Usage)


class UsageTable(Generic[_U]):
    """A bounded LRU of usages by name, which drops only unused ones.

    A full table refuses new entries, so that a flood cannot make it drop old ones.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._usages: dict[str, _U] = {}

    def __len__(self) -> int:
        return len(self._usages)

    def find(self, name: str) -> _U | None:
        """Return the usage of that name and mark it as the newest."""
        usage = self._usages.pop(name, None)
        if usage is not None:
            self._usages[name] = usage
        return usage

    def insert(self, name: str, usage: _U, now: float) -> bool:
        """Add a new entry if there is room; return whether there was."""
        for oldest in list(islice(self._usages, CHECKED_PER_INSERT)):
            checked = self._usages.pop(oldest)
            if not checked.is_unused(now):
                self._usages[oldest] = checked  # at the end, so that the next insert checks others
        if len(self._usages) >= self._capacity:
            return False
        self._usages[name] = usage
        return True
