"""Pings, which detect peers whose machine still acknowledges data but whose program is gone."""

from typing import Final

from saratoga_server.transport.frames import pack_ping

PING_EVERY: Final = 20.0
"""Seconds between two pings."""

MOST_UNANSWERED: Final = 2
"""The most pings in a row without an answer. One answer may be late."""


class Pings:
    """The pings of one connection. Only a pong that answers the last ping counts."""

    __slots__ = ("_due", "_number", "_unanswered")

    def __init__(self, now: float) -> None:
        self._due = now + PING_EVERY
        self._number = 0
        """The number of the last ping, which is its payload."""
        self._unanswered = 0

    def is_due(self, now: float) -> bool:
        return now >= self._due

    @property
    def are_unanswered(self) -> bool:
        """True if so many pings are unanswered that the peer counts as gone."""
        return self._unanswered >= MOST_UNANSWERED

    def next(self, now: float) -> bytes:
        """Return the frame of the next ping."""
        self._due = now + PING_EVERY
        self._number += 1
        self._unanswered += 1
        return pack_ping(self._payload())

    def answer(self, payload: bytes) -> None:
        """Record a pong; answers to older pings, and unsolicited ones, are ignored."""
        if payload == self._payload():
            self._unanswered = 0

    def _payload(self) -> bytes:
        return self._number.to_bytes(4, "big")
