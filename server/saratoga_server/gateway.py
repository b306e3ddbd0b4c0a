"""The door: WebSocket connections in, frames to commands, events to frames.

One reader per connection, one command at a time: a player's next command is read when the last
one is answered, so whoever floods the house fills only one's own socket. Sending never waits; a
watchdog cuts the connection of whoever does not read.
"""

import asyncio
import itertools
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from websockets.asyncio.server import Server, ServerConnection, broadcast, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Origin, Subprotocol

from saratoga_protocol.codec import CODECS, BadFrame
from saratoga_protocol.commands import AnyCommand
from saratoga_protocol.events import Alive, AnyEvent, MoveMade, Refused
from saratoga_protocol.refusals import (
    ABUSE,
    NO_HELLO,
    RESTARTING,
    TOO_SLOW,
    WRONG_SUBPROTOCOL,
    CloseCode,
)
from saratoga_protocol.version import MAX_COMMAND_BYTES, SUBPROTOCOLS
from saratoga_server.metrics import Metrics
from saratoga_server.refusing import refused
from saratoga_server.session import Session

HELLO_WITHIN: Final = 10.0
"""Seconds in which a connection must say hello."""

CLOSE_WITHIN: Final = 2.0
"""Seconds for a goodbye; then the connection is cut."""

MOST_PENDING: Final = 256 * 1024
"""Bytes that may wait for a player to read them."""

KERNEL_BUFFER: Final = 64 * 1024
"""Bytes that the kernel may hold beside them (Linux doubles the number)."""

LONGEST_PENDING: Final = 2.0
"""Seconds in which a player must read something of what waits."""

WATCH_EVERY: Final = 0.25
"""Seconds between two looks at what waits."""

ALIVE_EVERY: Final = 2.0
"""Seconds between two signs of life; they also give the watchdog something to see."""

BAD_FRAME_COST: Final = 5
"""Commands that one unreadable frame counts for."""


class Rooms(Protocol):
    """What stands behind the door."""

    def arrived(self, session: Session) -> None: ...

    async def answer(self, session: Session, command: AnyCommand) -> AnyEvent:
        """Carry out a command; whatever goes wrong is an answer too."""
        ...

    async def gone(self, session: Session) -> None: ...

    def now(self) -> int: ...


@dataclass(slots=True)
class Allowance:
    """How many commands a connection may send: `rate` a second, `burst` at once; rate 0: any."""

    rate: float
    burst: float
    left: float
    at: float

    def takes(self, cost: int, now: float) -> bool:
        """Whether that much is allowed now; if it is, it is used up."""
        if not self.rate:
            return True
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < cost:
            return False
        self.left -= cost
        return True


class WebSocketLine:
    """A `Line` over one WebSocket."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._alone = (connection,)
        self._waiting_since = 0.0
        self._pending = 0
        self._goodbye: asyncio.Task[None] | None = None

    def send(self, frame: bytes | str) -> None:
        broadcast(self._alone, frame)

    def close(self, code: CloseCode) -> None:
        if self._goodbye is None:
            self._goodbye = asyncio.ensure_future(self._say_goodbye(code))

    async def closed(self) -> None:
        """Wait until a goodbye under way is said."""
        if self._goodbye is not None:
            await self._goodbye

    def is_clogged(self, now: float) -> bool:
        """Whether the player reads too little of what waits, or nothing."""
        pending, before = self._connection.transport.get_write_buffer_size(), self._pending
        self._pending = pending
        if not pending or pending < before or not before:
            self._waiting_since = now
        # one long answer may be on its way: what matters is that it gets less
        return pending > MOST_PENDING <= before <= pending or (
            pending > 0 and now - self._waiting_since > LONGEST_PENDING
        )

    def cut(self) -> None:
        """End the connection at once; what waits is thrown away."""
        self._connection.transport.abort()

    async def _say_goodbye(self, code: CloseCode) -> None:
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                await self._connection.close(code.code, code.reason)
        except TimeoutError:
            self.cut()


HttpAnswer = Callable[[ServerConnection, Request], Awaitable[Response | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Where the gateway listens, and whom it lets in."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    origins: tuple[str, ...] = ()
    rate: float = 50
    burst: float = 100


class Gateway:
    """All connections of this node."""

    def __init__(
        self,
        rooms: Rooms,
        door: Door,
        http: HttpAnswer,
        metrics: Metrics,
    ) -> None:
        self._rooms = rooms
        self._door = door
        self._http = http
        self._metrics = metrics
        self._lines: dict[Session, WebSocketLine] = {}
        self._numbers = itertools.count(1)
        self._servers: list[Server] = []

    async def open(self, doors: Sequence[socket.socket] = ()) -> int:
        """Start to listen, on sockets that are bound already if there are any; returns the port.

        Raises `OSError` if that cannot be.
        """
        places: list[dict[str, Any]] = [{"sock": door} for door in doors]
        for place in places or [{"host": self._door.host, "port": self._door.port}]:
            self._servers.append(await self._listening(**place))
        port: int = next(iter(self._servers[0].sockets)).getsockname()[1]
        return port

    async def _listening(self, **where: Any) -> Server:  # asyncio's own
        return await serve(
            self._handle,
            **where,
            ssl=self._door.tls,
            # A program other than a browser names no origin: None lets it in.
            origins=[None, *(Origin(origin) for origin in self._door.origins)],
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
            process_request=self._http,
            compression=None,
            max_size=MAX_COMMAND_BYTES,
            max_queue=16,
            ping_interval=20,
            ping_timeout=20,
            close_timeout=CLOSE_WITHIN,
            server_header=None,
            backlog=1024,
        )

    async def watch(self) -> None:
        """Cut the connections of those who do not read; for ever."""
        while True:
            await asyncio.sleep(WATCH_EVERY)
            now = time.monotonic()
            for line in list(self._lines.values()):
                if line.is_clogged(now):
                    self._metrics.slow_clients += 1
                    line.close(TOO_SLOW)
                    line.cut()

    async def stay_alive(self) -> None:
        """Give everyone a sign of life again and again; for ever."""
        while True:
            await asyncio.sleep(ALIVE_EVERY)
            alive = Alive(now=self._rooms.now())
            frames = {id(codec): codec.encode_event(alive) for codec in CODECS.values()}
            for session, line in list(self._lines.items()):
                line.send(frames[id(session.codec)])

    def stop_listening(self) -> None:
        """Let nobody in any more; who is half in is told to come again (503)."""
        for server in self._servers:
            server.close(close_connections=False)

    async def close(self, code: CloseCode = RESTARTING) -> None:
        """Let nobody in any more, and send everybody away."""
        self.stop_listening()
        lines = list(self._lines.values())
        for line in lines:
            line.close(code)
        await asyncio.gather(*(line.closed() for line in lines))
        for server in self._servers:
            await server.wait_closed()

    async def _handle(self, connection: ServerConnection) -> None:
        codec = CODECS.get(connection.subprotocol or "")
        line = WebSocketLine(connection)
        _bound_kernel_buffer(connection)
        if codec is None:
            line.close(WRONG_SUBPROTOCOL)
            await line.closed()
            return
        peer = connection.remote_address
        session = Session(
            line=line,
            codec=codec,
            address=str(peer[0]) if peer else "",
            number=next(self._numbers),
        )
        self._lines[session] = line
        self._rooms.arrived(session)
        deadline = asyncio.get_running_loop().call_later(
            HELLO_WITHIN, lambda: None if session.player else line.close(NO_HELLO)
        )
        try:
            await self._converse(connection, session, line)
        except ConnectionClosed:
            pass
        finally:
            deadline.cancel()
            del self._lines[session]
            await self._rooms.gone(session)
            await line.closed()

    async def _converse(
        self, connection: ServerConnection, session: Session, line: WebSocketLine
    ) -> None:
        door = self._door
        allowance = Allowance(door.rate, door.burst, door.burst, time.monotonic())
        overdrawn = 0
        async for frame in connection:
            began = time.monotonic()
            command = _read(session, frame)
            if not allowance.takes(1, began):
                overdrawn += 1
                session.tell(refused("too_fast", _id_of(command)))
                if overdrawn > door.burst:
                    line.close(ABUSE)
                continue
            overdrawn = max(0, overdrawn - 1)
            if isinstance(command, Refused):
                allowance.takes(BAD_FRAME_COST, began)
                self._metrics.refusals[command.code] += 1
                session.tell(command)
            else:
                await self._answer(session, command, began)

    async def _answer(self, session: Session, command: AnyCommand, began: float) -> None:
        answer = await self._rooms.answer(session, command)
        session.tell(answer)
        if isinstance(answer, MoveMade):
            self._metrics.moves_acknowledged += 1
            self._metrics.acknowledgement.observe(time.monotonic() - began)


def _bound_kernel_buffer(connection: ServerConnection) -> None:
    """Keep what the kernel holds for a player small, so that the watchdog sees who does not read."""
    raw = connection.transport.get_extra_info("socket")
    if raw is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL_BUFFER)


def _read(session: Session, frame: bytes | str) -> AnyCommand | Refused:
    """The command in a frame, or the refusal that names what is wrong with it."""
    try:
        return session.codec.decode_command(frame)
    except BadFrame as fault:
        return refused(fault.code, fault.re, fault.detail)


def _id_of(command: AnyCommand | Refused) -> int | None:
    return command.re if isinstance(command, Refused) else command.id
