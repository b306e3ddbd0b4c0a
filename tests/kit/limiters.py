"""Rate limiters on an invented clock, which record refusals and evictions."""

from collections import Counter

from saratoga_server.rate_limits.limiter import (
    NO_CONNECTION,
    Quota,
    RateLimiter,
)
from saratoga_server.rate_limits.rates import (
    Action,
)

ANNA, BERT = "203.0.113.7", "198.51.100.9"
"""Two client addresses."""

MANY = 100_000
"""More than any limit allows."""


class Bench:
    """A source of rate limiters on an invented clock; it records their refusals and evictions."""

    def __init__(self) -> None:
        self.now = 0.0
        self.refusals: Counter[str] = Counter()
        self.evicted: list[int] = []

    def limiter(self, **options: object) -> RateLimiter:
        return RateLimiter(
            lambda: self.now,
            on_refused=lambda action: self.refusals.update([action]),
            **options,  # type: ignore[arg-type]
        )

    def connection(self, number: int, *, holds_seat: bool = False) -> "FakeConnection":
        return FakeConnection(number, self.evicted, holds_seat)


class FakeConnection:
    """A connection that adds its number to a list when it is evicted."""

    def __init__(self, number: int, evicted: list[int], holds_seat: bool) -> None:
        self.holds_seat = holds_seat
        self._number = number
        self._evicted = evicted

    def evict(self) -> None:
        self._evicted.append(self._number)


def opened(limiter: RateLimiter, address: str) -> Quota:
    return limiter.open(address, NO_CONNECTION)


def taken(quota: Quota, action: Action) -> int:
    """Take tokens for the action until one is refused; return the number taken."""
    count = 0
    while quota.take(action) == 0 and count < MANY:
        count += 1
    return count
