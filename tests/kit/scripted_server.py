"""A WebSocket server whose responses the test chooses.

It answers hellos and heartbeats by itself and passes every other command to the test, which
answers, stays silent or closes the connection. So a test can make exchanges that no real server
makes.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec.structs import replace
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from kit.session_states import CODE, START, table
from saratoga_protocol.codec import CODECS, SUBPROTOCOLS
from saratoga_protocol.commands import Command, Heartbeat, Hello, player_id
from saratoga_protocol.events import Alive, Event, Snapshot, Welcome

TOKEN = "5a" * 32
PLAYER = player_id(TOKEN)
RECEIVED_WITHIN = 60.0
"""Longest time in seconds for a client's next connection or command."""


class ScriptedPeer:
    """One connection of a client, seen from the server."""

    def __init__(self, server: "ScriptedServer", socket: ServerConnection) -> None:
        self.server = server
        self._socket = socket
        self._codec = CODECS[socket.subprotocol or ""]
        self._commands: asyncio.Queue[Command] = asyncio.Queue()
        self.hello: Hello | None = None
        self.gone = asyncio.Event()

    async def command(self) -> Command:
        """Return the client's next command other than a hello or a heartbeat."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            return await self._commands.get()

    async def next_command(self) -> Command:
        """Return the client's next command, however long it takes."""
        return await self._commands.get()

    async def send(self, *sent: Event) -> None:
        for event in sent:
            await self._socket.send(self._codec.encode(event))

    def send_together(self, *sent: Event) -> None:
        """Send events in one write, which the client receives in one read."""
        encoded = b""
        for frame in map(self._codec.encode, sent):
            if isinstance(frame, bytes):
                encoded += Frame(Opcode.BINARY, frame).serialize(mask=False)
            else:
                encoded += Frame(Opcode.TEXT, frame.encode()).serialize(mask=False)
        self._socket.transport.write(encoded)

    async def send_frame(self, frame: bytes | str) -> None:
        await self._socket.send(frame)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self._socket.close(code, reason)

    def cut(self) -> None:
        """Abort the connection without a close frame, as if the server was killed."""
        self._socket.transport.abort()

    async def listen(self) -> None:
        try:
            async for frame in self._socket:
                command = self._codec.decode_command(frame)
                if isinstance(command, Hello):
                    self.hello = command
                    await self.send(self.server.greeting(command))
                    await self.server.peers.put(self)
                elif isinstance(command, Heartbeat):
                    self.server.heartbeats.put_nowait(command)
                    if self.server.answers_heartbeats:
                        await self.send(Alive(re=command.id, now=self.server.now))
                else:
                    self._commands.put_nowait(command)
        except ConnectionClosed:
            pass
        finally:
            self.gone.set()


class ScriptedServer:
    """A WebSocket server on a port of this machine, controlled by the test."""

    def __init__(self) -> None:
        self.peers: asyncio.Queue[ScriptedPeer] = asyncio.Queue()
        self.greeting: Callable[[Hello], Event] = welcome
        self.heartbeats: asyncio.Queue[Heartbeat] = asyncio.Queue()
        self.answers_heartbeats = True
        self.now = START
        """The time that the clock always shows, in milliseconds since 1970."""
        self.pages: Callable[[Request], Response | None] = lambda request: None
        """Answers requests over HTTP; `None` for the handshake of a WebSocket."""
        self._server: Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self._port}"

    async def peer(self) -> ScriptedPeer:
        """Return the connection of the next client that says hello."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            return await self.peers.get()

    async def open(self) -> None:
        """Listen on a free port, or after `close` on the same port as before."""
        self._server = await serve(
            self._receive,
            "127.0.0.1",
            self._port,
            subprotocols=[Subprotocol(name) for name in SUBPROTOCOLS],
            process_request=lambda connection, request: self.pages(request),
            compression=None,
            ping_interval=None,
            close_timeout=0.1,
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _receive(self, socket: ServerConnection) -> None:
        await ScriptedPeer(self, socket).listen()


@asynccontextmanager
async def scripted_server() -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer()
    await server.open()
    try:
        yield server
    finally:
        await server.close()


def welcome(hello: Hello) -> Welcome:
    return Welcome(
        re=hello.id,
        player=player_id(hello.token),
        name=hello.name,
        bot=hello.bot,
        now=START,
        server="scripted",
        node="n1",
        games=["canfield"],
    )


def welcome_back(hello: Hello) -> Welcome:
    """Return the welcome of a player who has a seat at the table `CODE`."""
    return replace(welcome(hello), table=CODE)


def snapshot(re: int | None = None, code: str = CODE) -> Snapshot:
    """Return a table that gathers, whose host has the token `TOKEN`; nobody has a seat."""
    shown = replace(table("", "gathering"), code=code, race=f"{code}/1", host=PLAYER)
    return Snapshot(re=re, table=shown, now=START)
