"""An estimate of the server's clock. Does no I/O and reads no clock.

Every answer with the server's time is one observation. The time was exact at some moment between
the request and the answer, so the error is smaller for faster answers.
"""

from collections import deque
from typing import Final, NamedTuple

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
