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
    """Seconds: the longest wait after the first failure."""
    largest: float = 1.0
    """Seconds: the longest wait of all."""
    shortest: float = 0.02
    """Seconds: the shortest wait, in case a server closes every connection at once."""

    def wait(self, failures: int, chance: Callable[[], float] = random.random) -> float:
        """Seconds to wait after `failures` failures in a row; `chance` draws from 0 to 1."""
        # The exponent is bounded: beyond 2**30 the largest wait counts anyway.
        longest = min(self.largest, self.first * 2.0 ** min(failures - 1, 30))
        return max(self.shortest, longest * chance())
