"""An estimate of the server's clock. Does no I/O and reads no clock.

Every answer that carries the server's time is one observation: that time was exact at some moment
between the request and the answer. The faster the answer, the smaller the error.
"""

from collections import deque
from typing import Final, NamedTuple

OBSERVATIONS: Final = 8
"""The number of observations kept: enough for a fast one, few enough to follow an adjusted clock."""


class Observation(NamedTuple):
    """One request and its answer."""

    round_trip: float
    """Seconds from the request to the answer; the error is at most half of it."""
    lead: float
    """Milliseconds that the server's clock is ahead, if both directions take equally long."""


class ServerTime:
    """The difference between the server's clock and the local clock."""

    def __init__(self) -> None:
        self._observations: deque[Observation] = deque(maxlen=OBSERVATIONS)

    def observe(self, sent: float, received: float, server: int) -> None:
        """Note an answer with the server's time in milliseconds; local times are in seconds."""
        round_trip = max(0.0, received - sent)
        lead = server - (sent + round_trip / 2) * 1000
        self._observations.append(Observation(round_trip, lead))

    def forget(self) -> None:
        """Drop all observations: after reconnecting, another node may have another clock."""
        self._observations.clear()

    @property
    def round_trip(self) -> float | None:
        """Seconds from the last request to its answer; `None` before the first."""
        return self._observations[-1].round_trip if self._observations else None

    def at(self, local: float) -> int:
        """The server's time in milliseconds when the local clock shows `local` seconds."""
        best = min(self._observations, default=Observation(0.0, 0.0))
        return round(local * 1000 + best.lead)
