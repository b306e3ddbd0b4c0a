"""Pings: for peers whose machine acknowledges what no program there reads any more."""

from typing import Final

from saratoga_server.transport.frames import pack_ping

PING_EVERY: Final = 20.0
"""Seconds."""

MOST_UNANSWERED: Final = 2
"""Pings in a row. The answer to one may have arrived while this process stood still."""


class Pings:
    """The pings of one connection. A pong counts if it answers the last of them."""

    __slots__ = ("_due", "_number", "_unanswered")

    def __init__(self, now: float) -> None:
        self._due = now + PING_EVERY
        self._number = 0
        """Of the last ping, which is its payload."""
        self._unanswered = 0

    def is_due(self, now: float) -> bool:
        return now >= self._due

    @property
    def are_unanswered(self) -> bool:
        """Whether so many were, that the peer is gone."""
        return self._unanswered >= MOST_UNANSWERED

    def next(self, now: float) -> bytes:
        """Return the frame of one more ping."""
        self._due = now + PING_EVERY
        self._number += 1
        self._unanswered += 1
        return pack_ping(self._payload())

    def answer(self, payload: bytes) -> None:
        """Note a pong; answers to older pings, and to none, are worth nothing."""
        if payload == self._payload():
            self._unanswered = 0

    def _payload(self) -> bytes:
        return self._number.to_bytes(4, "big")
