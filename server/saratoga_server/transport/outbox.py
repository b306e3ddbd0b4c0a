"""The way to one player: frames go out over a WebSocket without waiting, and not much is held.

`websockets` lets nobody go who does not read: its pings and its goodbye wait for the same full
buffer. So what waits is bounded when it is sent, and a watchdog asks every line again and again
whether its player still reads.
"""

import asyncio
from contextlib import suppress
from typing import Final

from websockets.protocol import OPEN

from saratoga_protocol.refusals import TOO_SLOW, CloseCode
from saratoga_server.transport.frames import framed
from saratoga_server.transport.intake import Intake

CLOSE_WITHIN: Final = 2.0
"""Seconds for a goodbye; then the connection is cut."""

MOST_PENDING: Final = 192 * 1024
"""Bytes that may wait for a player to read them. With what the kernel holds (128 KiB), and what TLS
keeps out of sight (64 KiB and one frame), that is less than 512 KiB."""

MOST_FRAMES: Final = 1024
"""Frames that may be sent while something waits all the time."""


class Outbox:
    """A `Line` over one WebSocket."""

    __slots__ = (
        *("_answered", "_connection", "_frames", "_goodbye", "_is_answering", "_last", "_long"),
        "is_too_slow",
    )

    def __init__(self, connection: Intake) -> None:
        self._connection = connection
        self._frames = 0
        self._long = 0
        self._goodbye: asyncio.Task[None] | None = None
        self._last: CloseCode | None = None
        self._is_answering = False
        self._answered: asyncio.Event | None = None
        """Awaited by who leaves in the midst of a command."""
        self.is_too_slow = False
        """Cut, because too much waited, or for too long."""

    @property
    def is_open(self) -> bool:
        return self._goodbye is None and not self._connection.transport.is_closing()

    def send(self, frame: bytes | str) -> None:
        """Send it; or cut the connection of whoever has not read what was sent before.

        One answer may be longer than all that may wait: then that much may wait besides.
        """
        transport = self._connection.transport
        if transport.is_closing():
            return
        pending = transport.get_write_buffer_size()
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
        if self._connection.protocol.state is OPEN:
            transport.write(framed(frame))

    @property
    def is_full(self) -> bool:
        """Whether so much waits that nothing more should be asked of the house over this line."""
        return self._connection.paused

    async def drained(self) -> None:
        """Wait until the player has read, or is gone."""
        with suppress(OSError):
            await self._connection.drain()

    def is_dead(self, now: float) -> bool:
        """Whether the other end leaves pings unanswered; to be asked again and again."""
        return self._connection.is_gone(now)

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
            self._answered = self._answered or asyncio.Event()
            await self._answered.wait()
        self.close(code)
        await self.closed()

    def answering(self) -> None:
        """A command is being carried out."""
        self._is_answering = True

    def answered(self) -> None:
        """None is any more: the answer was sent, or there will be none."""
        self._is_answering = False
        if self._answered is not None:
            self._answered.set()

    async def closed(self) -> None:
        """Wait until a goodbye under way is said."""
        if self._goodbye is not None:
            await self._goodbye

    def cut_as_too_slow(self) -> None:
        """End the connection of whoever does not read."""
        self.is_too_slow = True
        self.close(TOO_SLOW)
        self.cut()

    def cut(self) -> None:
        """End the connection at once; what waits is thrown away."""
        self._connection.cut()

    async def _say_goodbye(self, code: CloseCode) -> None:
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._connection.close(code.code, code.reason)
        except TimeoutError:
            self.cut()
