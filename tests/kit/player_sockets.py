"""Players on real WebSockets, with the same methods as players in memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from kit.players import RECEIVED_WITHIN, Disconnected, Player, Received
from saratoga_protocol.codec import CODECS, MSGPACK
from saratoga_protocol.commands import Command
from saratoga_protocol.events import Event

LARGEST_EVENT = 4 * 1024 * 1024
"""The largest event in bytes that a client should accept (protocol/README.md)."""


class SocketPlayer(Player):
    """A player on a real WebSocket."""

    def __init__(
        self, socket: ClientConnection, name: str, *, bot: bool = False, legal: bool = False
    ) -> None:
        super().__init__(name, Received(CODECS[socket.subprotocol or ""]), bot=bot, legal=legal)
        self.socket = socket
        self._listening = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        with suppress(ConnectionClosed):
            async for frame in self.socket:
                self.received.add(frame)
        code, reason = self.socket.close_code, self.socket.close_reason
        self.received.end(Disconnected(code or 0, reason or ""))

    async def exchange(self, command: Command) -> Event:
        since = len(self.received.events)
        await self.socket.send(self.received.codec.encode(command))
        return await self.received.next(Event, since, re=command.id)

    async def closed(self) -> tuple[int, str]:
        """Wait until the server closes the connection; return the close code and the reason."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            await self._listening
        return self.socket.close_code or 0, self.socket.close_reason or ""


@asynccontextmanager
async def connected_player(
    url: str,
    name: str,
    *,
    bot: bool = False,
    legal: bool = False,
    subprotocol: str = MSGPACK,
) -> AsyncIterator[SocketPlayer]:
    """Connect a player who has not said hello."""
    async with connect(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        max_size=LARGEST_EVENT,
        ping_interval=None,
        close_timeout=1,
    ) as socket:
        came = SocketPlayer(socket, name, bot=bot, legal=legal)
        try:
            yield came
        finally:
            await socket.close()
            await came.closed()


@asynccontextmanager
async def player_at(
    url: str,
    name: str,
    *,
    bot: bool = False,
    legal: bool = False,
    subprotocol: str = MSGPACK,
) -> AsyncIterator[SocketPlayer]:
    """Connect a player who has said hello."""
    async with connected_player(url, name, bot=bot, legal=legal, subprotocol=subprotocol) as came:
        await came.hello()
        yield came
