"""Detection of clients that have stopped reading."""

import asyncio
import ssl
from typing import Final

from saratoga_server.transport.socket_options import unsent_bytes

LONGEST_PENDING: Final = 2.0
"""Seconds in which a client must read some of the waiting data."""


class SlowReaderDetector:
    """A detector for one client: while bytes wait for the client, their number must fall."""

    __slots__ = ("_before", "_is_tls", "_socket", "_transport", "_waiting_since")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._is_tls = isinstance(transport.get_extra_info("sslcontext"), ssl.SSLContext)
        self._socket = transport.get_extra_info("socket")
        self._waiting_since = 0.0
        self._before = 0

    def has_stopped(self, now: float) -> bool:
        """Return whether the client has read nothing for too long; to be called periodically."""
        pending, before = self._transport.get_write_buffer_size(), self._before
        if self._is_tls and self._socket is not None:
            # a TLS transport does not show the bytes in the plain transport below it
            pending += unsent_bytes(self._socket)
        if not pending and not before:
            # the common case: this runs for every connection four times a second
            return False
        self._before = pending
        if pending < before or not before:
            self._waiting_since = now
        return pending > 0 and now - self._waiting_since > LONGEST_PENDING
