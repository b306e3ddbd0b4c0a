"""The timeouts and intervals of a connection to a server, and an estimate of the server's clock. Reads no clock."""

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple


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


OBSERVATIONS: Final = 8
"""The number of observations kept: enough for a fast one, few enough to follow an adjusted clock."""


STEP: Final = 2_000.0
"""Milliseconds between two observations, beyond their errors, that show that the server's clock was stepped."""


class Observation(NamedTuple):
    """The times of a request and its answer."""

    round_trip: float
    """Seconds from the request to the answer; the error of `lead` is at most half of that."""
    lead: float
    """Milliseconds by which the server's clock is ahead, if both directions take equal time."""


class ServerTime:
    """The difference between the server's clock and the local clock."""

    def __init__(self) -> None:
        self._observations: deque[Observation] = deque(maxlen=OBSERVATIONS)

    def observe(self, sent: float, received: float, server: int) -> None:
        """Add an answer with the server's time in milliseconds; local times are in seconds.

        If the server's clock was stepped, this drops what was observed before.
        """
        round_trip = max(0.0, received - sent)
        lead = server - (sent + round_trip / 2) * 1000
        if any(
            abs(lead - known.lead) > (round_trip + known.round_trip) * 500 + STEP
            for known in self._observations
        ):
            self._observations.clear()
        self._observations.append(Observation(round_trip, lead))

    def forget(self) -> None:
        """Drop all observations: after reconnecting, another node may have another clock."""
        self._observations.clear()

    def at(self, local: float) -> int:
        """Return the server's time in milliseconds when the local clock shows `local` seconds."""
        best = min(self._observations, default=Observation(0.0, 0.0))
        return round(local * 1000 + best.lead)
