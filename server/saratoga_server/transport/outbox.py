"""What a connection sends: written without waiting, and bounded, because a client may stop reading.

Nothing waits for a client but the command whose answer it has asked for: the connection's next
command is begun when the transport has room again.
"""

import asyncio
from typing import Final

from saratoga_server.transport.frames import pack_message

MOST_PENDING: Final = 192 * 1024
"""Bytes that may wait for a client to read them. With what the kernel holds (128 KiB), and what TLS
hides (64 KiB and one frame), that is less than 512 KiB."""

MOST_FRAMES: Final = 1024
"""Frames that may be sent while something waits all the time."""


class Outbox:
    """Messages on their way to one client."""

    __slots__ = ("_drained", "_frames", "_long", "_transport", "is_full")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._frames = 0
        """Sent since nothing waited."""
        self._long = 0
        """Bytes of answers longer than `MOST_PENDING`, which may wait besides."""
        self.is_full = False
        """So much waits for the client to read it that no further command should be begun."""
        self._drained: asyncio.Future[None] | None = None
        """Awaited by a command whose answer is long."""

    def send(self, message: bytes | str) -> bool:
        """Write a message; False: too much waits already, and the message was not written.

        One answer may be longer than all that may wait: then that much may wait besides.
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
        """Note that the transport wants no more for now."""
        self.is_full = True

    def drain(self) -> None:
        """Note that the transport wants more, or that the connection has ended."""
        self.is_full = False
        drained, self._drained = self._drained, None
        if drained is not None and not drained.done():
            drained.set_result(None)

    async def drained(self) -> None:
        """Wait until the client has read what was sent, or is gone; for one command at a time."""
        if self.is_full:
            self._drained = asyncio.get_running_loop().create_future()
            await self._drained
