"""The timeouts and intervals of a connection to a server."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The timeouts and intervals of a connection, in seconds."""

    first_within: float = 10.0
    """The limit for the first connection; reconnecting has no limit."""
    greet_within: float = 8.0
    """The limit for opening the socket, and again for the hello and the subscriptions."""
    heartbeat_every: float = 2.0
    silence: float = 6.0
    """The time without any frame after which the connection counts as lost.

    A server sends something at least every two seconds.
    """
    answer_within: float = 30.0
    """The limit for the answer to a command, reconnecting included."""
    steady_after: float = 5.0
    """Once a connection has lasted this long, earlier failures no longer lengthen the wait."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Random waits that grow with every failure, so that clients do not reconnect all at once.

    Full jitter after Marc Brooker, "Exponential Backoff And Jitter". The longest wait is short
    because a race continues while a player is disconnected.
    """

    first: float = 0.1
    """The longest wait after the first failure, in seconds."""
    largest: float = 1.0
    """The longest wait after any number of failures, in seconds."""
    shortest: float = 0.02
    """The shortest wait in seconds, for a server that closes every connection at once."""

    def wait(self, failures: int, chance: Callable[[], float] = random.random) -> float:
        """Return the seconds to wait after a number of failures; `chance` draws from [0, 1)."""
        # Bound the exponent, to avoid an overflow; beyond 2**30 `largest` applies anyway.
        longest = min(self.largest, self.first * 2.0 ** min(failures - 1, 30))
        return max(self.shortest, longest * chance())
