"""Guests who come through the door: the same words as in memory, over real WebSockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from kit.guests import HEARD_WITHIN, Guest, Heard, SentAway
from saratoga_protocol.codec import CODECS
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.events import AnyEvent, Event
from saratoga_protocol.version import MSGPACK

LARGEST_EVENT = 4 * 1024 * 1024
"""Bytes that a client should accept (protocol/README.md)."""


class GuestOnTheWire(Guest):
    """A guest with a socket; every frame is kept as it came."""

    def __init__(
        self, socket: ClientConnection, name: str, *, bot: bool = False, legal: bool = False
    ) -> None:
        super().__init__(name, Heard(CODECS[socket.subprotocol or ""]), bot=bot, legal=legal)
        self.socket = socket
        self.listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with suppress(ConnectionClosed):
            async for frame in self.socket:
                self.heard.add(frame)
        code, reason = self.socket.close_code, self.socket.close_reason
        self.heard.end(SentAway(code or 0, reason or ""))

    async def _exchange(self, command: AnyCommand) -> AnyEvent:
        since = len(self.heard.events)
        await self.socket.send(self.heard.codec.encode_command(command))
        answer = await self.heard.next(Event, since, re=command.id)
        return cast(AnyEvent, answer)

    async def sent_away(self) -> tuple[int, str]:
        """The code and reason with which the house closes the connection."""
        async with asyncio.timeout(HEARD_WITHIN):
            await self.listening
        return self.socket.close_code or 0, self.socket.close_reason or ""


@asynccontextmanager
async def stranger(
    url: str,
    name: str,
    *,
    bot: bool = False,
    legal: bool = False,
    subprotocol: str = MSGPACK,
) -> AsyncIterator[GuestOnTheWire]:
    """A connection that has said nothing yet."""
    async with connect(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        max_size=LARGEST_EVENT,
        ping_interval=None,
        close_timeout=1,
    ) as socket:
        came = GuestOnTheWire(socket, name, bot=bot, legal=legal)
        try:
            yield came
        finally:
            await socket.close()
            await came.listening


@asynccontextmanager
async def guest(
    url: str,
    name: str,
    *,
    bot: bool = False,
    legal: bool = False,
    subprotocol: str = MSGPACK,
) -> AsyncIterator[GuestOnTheWire]:
    """Somebody who has come in and said hello."""
    async with stranger(url, name, bot=bot, legal=legal, subprotocol=subprotocol) as came:
        await came.hello()
        yield came
