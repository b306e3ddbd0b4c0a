"""An estimate of the server's clock. Does no I/O and reads no clock.

Every answer with the server's time is one observation. The time was exact at some moment between
the request and the answer, so the error is smaller for faster answers.
"""

import math
from collections import deque
from typing import Final, NamedTuple

from saratoga_client.net.requests import OWN_ID
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Alive, Event

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

    @property
    def round_trip(self) -> float | None:
        """The last round-trip time in seconds; `None` before the first answer."""
        return self._observations[-1].round_trip if self._observations else None

    def at(self, local: float) -> int:
        """Return the server's time in milliseconds when the local clock shows `local` seconds."""
        best = min(self._observations, default=Observation(0.0, 0.0))
        return round(local * 1000 + best.lead)


ACTIVE_EVERY: Final = 15.0
"""Seconds between two heartbeats with `active`; a move shows the player's activity by itself."""


class Heartbeats:
    """The next heartbeat, and the answer to the last one.

    Does no I/O: `now` is in seconds of a clock that never steps.
    """

    def __init__(self, time: ServerTime) -> None:
        """Add the server's answers to `time`."""
        self._time = time
        self._sent: float | None = None
        """The time of the heartbeat that is not answered yet."""
        self._acted = -math.inf
        self._shown = -math.inf
        """The time of the last activity of which the server knows."""
        self._is_active = False

    def restart(self) -> None:
        """Begin again on a new connection; activity that the server may not know is shown again."""
        self._sent = None

    def act(self, now: float) -> None:
        """Note a key, a click, a scroll or a typed line."""
        self._acted = now

    def move(self, now: float) -> None:
        """Note that a move is sent, which shows all activity before it."""
        self._shown = now

    def next(self, now: float) -> Heartbeat | None:
        """Return the heartbeat to send now; `None` while the last one is not answered."""
        if self._sent is not None:
            return None
        self._sent = now
        self._is_active = self._acted > self._shown and now - self._shown >= ACTIVE_EVERY
        return Heartbeat(id=OWN_ID, active=self._is_active)

    def answered(self, answer: Event, now: float) -> None:
        """Use the answer to the last heartbeat; a refusal shows nothing, and the next heartbeat is sent."""
        if self._sent is not None and isinstance(answer, Alive):
            self._time.observe(self._sent, now, answer.now)
            if self._is_active:
                self._shown = max(self._shown, self._sent)
        self._sent = None
