"""The time to wait before the next attempt to connect."""

import random
from collections.abc import Callable
from dataclasses import dataclass


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
