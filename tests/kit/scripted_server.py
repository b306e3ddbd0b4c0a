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

from saratoga_client.session.table_view import TableView, first_view
from saratoga_protocol import events
from saratoga_protocol.codec import CODECS, SUBPROTOCOLS
from saratoga_protocol.commands import Command, Heartbeat, Hello, player_id
from saratoga_protocol.events import Alive, Event, Snapshot, Table, TableSettings, Welcome
from saratoga_rules.games import RULES_VERSION

TOKEN = "5a" * 32
PLAYER = player_id(TOKEN)
CODE = "mint-otter-42"
RACE = f"{CODE}/1"
RECEIVED_WITHIN = 60.0
"""Longest time in seconds for a client's next connection or command."""
NOON = 1_790_000_000_000
"""The time that the scripted server's clock always shows, in milliseconds since 1970."""


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
        self.now = NOON
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
        now=NOON,
        server="scripted",
        node="n1",
        games=["canfield"],
    )


def welcome_back(hello: Hello) -> Welcome:
    """Return the welcome of a player who has a seat at the table `CODE`."""
    return replace(welcome(hello), table=CODE)


def table(code: str = CODE, version: int = 1, phase: str = "gathering") -> Table:
    return Table(
        code=code,
        version=version,
        host=PLAYER,
        phase=phase,
        settings=TableSettings(game="canfield", cap=10, seats=16, public=False),
        race=f"{code}/1",
        rules=RULES_VERSION,
        commitment="c0" * 32,
        seats=[],
    )


def snapshot(re: int | None = None, code: str = CODE) -> Snapshot:
    return Snapshot(re=re, table=table(code), now=NOON)


RIVAL = "qrstuvwxyz234567"
SEATS = [
    events.Seat(player=PLAYER, name="Anna"),
    events.Seat(player=RIVAL, name="Otto", bot=True),
]
STANDINGS = [
    events.Standing(player=RIVAL, place=1, banked=14, net=20, state="racing", head="0" * 16),
    events.Standing(player=PLAYER, place=2, banked=11, net=5, state="cash-out", head="0" * 16),
]


def running(**changes: object) -> TableView:
    at_table = replace(table(phase="running"), seats=SEATS, deadline=NOON + 90_000, **changes)
    return first_view(replace(snapshot(), table=at_table, standings=STANDINGS))


def outcome() -> events.Outcome:
    results = [
        events.Result(
            player=standing.player,
            place=standing.place,
            banked=standing.banked,
            net=standing.net,
            state=standing.state,
            moves=9,
            head="0" * 16,
        )
        for standing in STANDINGS
    ]
    return events.Outcome(
        race=RACE, game="canfield", results=results, seed="00", nonces={}, digest="d1"
    )
