"""How long to wait before the next attempt to reach the house."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits that grow with every failure, each drawn by chance, so that not everybody comes at once.

    Full jitter after Marc Brooker, "Exponential Backoff And Jitter". The largest wait is short: a
    race goes on while one is away, and whoever waits a second is back within two of a restart.
    """

    first: float = 0.1
    """Seconds: the longest wait after the first failure."""
    largest: float = 1.0
    """Seconds: no wait is longer."""
    shortest: float = 0.02
    """Seconds: no wait is shorter, lest a house that hangs up at once is called without pause."""

    def wait(self, failures: int, chance: Callable[[], float] = random.random) -> float:
        """Seconds to wait after that many failures in a row; `chance` draws from 0 to 1."""
        # Beyond 2**30 the largest wait was reached long ago.
        longest = min(self.largest, self.first * 2.0 ** min(failures - 1, 30))
        return max(self.shortest, longest * chance())
