"""A connection's outbox: messages are written without waiting, up to a limit.

If a client reads too slowly, only its own next command waits, until the transport has room again.
"""

import asyncio
from typing import Final

from saratoga_server.transport.frames import pack_message

MOST_PENDING: Final = 192 * 1024
"""The most bytes that may wait for a client to read them. With the buffers of the kernel (128 KiB)
and of TLS (64 KiB and one frame), a client holds less than 512 KiB."""

MOST_FRAMES: Final = 1024
"""The most frames that may be sent without the client ever having read all of them."""


class Outbox:
    """The messages that are being sent to one client."""

    __slots__ = ("_drained", "_frames", "_long", "_transport", "is_full")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._frames = 0
        """Frames sent since the client last had nothing left to read."""
        self._long = 0
        """Bytes of answers longer than `MOST_PENDING`; they may wait in addition to that limit."""
        self.is_full = False
        """True if so much is waiting that no further command should begin."""
        self._drained: asyncio.Future[None] | None = None
        """A future that a command with a long answer awaits."""

    def send(self, message: bytes | str) -> bool:
        """Write a message; return False, without writing it, if too much is waiting.

        One answer may be longer than the limit; its bytes are then allowed in addition.
        """
        pending = self._transport.get_write_buffer_size()
        if pending:
            self._frames += 1
            if pending <= MOST_PENDING:
                self._long = 0
            if pending > MOST_PENDING + self._long or self._frames > MOST_FRAMES:
                return False
        else:
            self._frames = self._long = 0
        if len(message) > MOST_PENDING:
            self._long += len(message)
        self._transport.write(pack_message(message))
        return True

    def fill(self) -> None:
        """Record that the transport's buffer is full."""
        self.is_full = True

    def drain(self) -> None:
        """Record that the transport has room again, or that the connection has ended."""
        self.is_full = False
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    async def drained(self) -> None:
        """Wait until the client has read what was sent, or has gone. Only one command may wait."""
        if self.is_full:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained
