"""The heartbeats of a connection: they measure the server's time, and tell it that the player is there."""

import math
from typing import Final

from saratoga_client.net.server_time import ServerTime
from saratoga_client.net.unanswered import OWN_ID
from saratoga_protocol.commands import Heartbeat
from saratoga_protocol.events import Alive, Event

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
