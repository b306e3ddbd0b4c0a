"""The way to one player: frames go out over a WebSocket without waiting, and not much is held.

`websockets` lets nobody go who does not read: its pings and its goodbye wait for the same full
buffer. So what waits is bounded when it is sent, and a watchdog asks every line again and again
whether its player still reads.
"""

import asyncio
import ssl
from contextlib import suppress
from typing import Final

from websockets.asyncio.connection import Connection
from websockets.asyncio.server import broadcast

from saratoga_protocol.refusals import TOO_SLOW, CloseCode
from saratoga_server.kernel import forget_unsent, unsent_bytes

CLOSE_WITHIN: Final = 2.0
"""Seconds for a goodbye; then the connection is cut."""

MOST_PENDING: Final = 192 * 1024
"""Bytes that may wait for a player to read them. With what the kernel holds (128 KiB), and what TLS
keeps out of sight (64 KiB and one frame), that is less than 512 KiB."""

MOST_FRAMES: Final = 1024
"""Frames that may be sent while something waits all the time."""

LONGEST_PENDING: Final = 2.0
"""Seconds in which a player must read something of what waits."""


class WebSocketLine:
    """A `Line` over one WebSocket."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._alone = (connection,)
        self._frames = 0
        self._long = 0
        self._goodbye: asyncio.Task[None] | None = None
        self._last: CloseCode | None = None
        self._is_answering = False
        self._answered = asyncio.Event()
        self._is_cut = False
        self.is_too_slow = False
        """Cut, because too much waited, or for too long."""

    def send(self, frame: bytes | str) -> None:
        """Send it; or cut the connection of whoever has not read what was sent before.

        One answer may be longer than all that may wait: then that much may wait besides.
        """
        if self._is_cut:
            return
        pending = self._connection.transport.get_write_buffer_size()
        if pending:
            self._frames += 1
            if pending <= MOST_PENDING:
                self._long = 0
            if pending > MOST_PENDING + self._long or self._frames > MOST_FRAMES:
                self.cut_as_too_slow()
                return
        else:
            self._frames = self._long = 0
        if len(frame) > MOST_PENDING:
            self._long += len(frame)
        broadcast(self._alone, frame)

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more should be asked of the house over this line."""
        return self._connection.paused

    async def drained(self) -> None:
        """Wait until the player has read, or is gone."""
        with suppress(OSError):
            await self._connection.drain()

    def close(self, code: CloseCode) -> None:
        if self._goodbye is None:
            self._goodbye = asyncio.ensure_future(self._say_goodbye(code))

    @property
    def is_leaving(self) -> bool:
        """Whether no further command is to be carried out: it is sent again elsewhere."""
        return self._last is not None

    async def leave(self, code: CloseCode) -> None:
        """Say goodbye when the command under way is answered; returns when that is done."""
        self._last = code
        if self._is_answering:
            await self._answered.wait()
        self.close(code)
        await self.closed()

    def answering(self) -> None:
        """A command is being carried out."""
        self._is_answering = True

    def answered(self) -> None:
        """None is any more: the answer was sent, or there will be none."""
        self._is_answering = False
        if self._last is not None:
            self._answered.set()

    async def closed(self) -> None:
        """Wait until a goodbye under way is said."""
        if self._goodbye is not None:
            await self._goodbye

    def cut_as_too_slow(self) -> None:
        """End the connection at once, with a goodbye that may still arrive."""
        self.is_too_slow = True
        self.close(TOO_SLOW)
        self.cut()

    def cut(self) -> None:
        """End the connection at once; what waits is thrown away."""
        self._is_cut = True
        hang_up(self._connection.transport)

    async def _say_goodbye(self, code: CloseCode) -> None:
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._connection.close(code.code, code.reason)
        except TimeoutError:
            self.cut()


def hang_up(transport: asyncio.Transport) -> None:
    """End a connection at once; what waits is thrown away, here and in the kernel."""
    if not transport.is_closing():
        forget_unsent(transport.get_extra_info("socket"))
    transport.abort()


class Reading:
    """Whether the other end of a connection reads: what waits must get less, or be nothing."""

    __slots__ = ("_before", "_is_tls", "_socket", "_transport", "_waiting_since")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._is_tls = isinstance(transport.get_extra_info("sslcontext"), ssl.SSLContext)
        self._socket = transport.get_extra_info("socket")
        self._waiting_since = 0.0
        self._before = 0

    def has_stopped(self, now: float) -> bool:
        """Whether nothing was read for too long; to be asked again and again."""
        pending, before = self._transport.get_write_buffer_size(), self._before
        if self._is_tls and self._socket is not None:
            # a TLS transport does not show what waits in the plain one below it
            pending += unsent_bytes(self._socket)
        self._before = pending
        if not pending or pending < before or not before:
            self._waiting_since = now
        return pending > 0 and now - self._waiting_since > LONGEST_PENDING
