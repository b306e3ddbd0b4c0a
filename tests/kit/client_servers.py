"""Servers for a client under test: a real one whose network the test steps through, and a scripted one.

`stepped_session` connects a real client to a real server in the test's own process; only the
network between them is replaced. The test lets the server answer one command, delivers one event to
the client, or cuts the connection, and so produces every order of events that a network can.
`open_lobby` connects clients to such a server by sockets.

A `scripted_server` on a socket answers hellos and heartbeats by itself and passes every other
command to the test, which answers, stays silent or closes the connection: exchanges that no real
server makes.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar, cast

import pytest
from msgspec.structs import replace
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, ConnectionClosedError
from websockets.frames import Close, Opcode
from websockets.frames import Frame as WebSocketFrame
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from kit.in_process_server import Deal, InProcessServer, listening_server, open_in_process_server
from kit.players import RECEIVED_WITHIN, token_of
from kit.session_states import CODE, table
from kit.session_states import START as NOON
from kit.stores import empty_store
from saratoga_client.local.identity import new_token
from saratoga_client.net.connection import Connection
from saratoga_client.net.timing import Backoff
from saratoga_client.net.websocket import OpenSocket
from saratoga_client.problems import Problem
from saratoga_client.session.own_board import OwnBoard
from saratoga_client.session.record_store import RecordStore
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_session import TableSession
from saratoga_client.session.witness import Witness
from saratoga_protocol.codec import CODECS, SUBPROTOCOLS, Codec, Frame
from saratoga_protocol.commands import (
    Command,
    CreateTable,
    Heartbeat,
    Hello,
    JoinTable,
    Start,
    player_id,
)
from saratoga_protocol.events import Alive, Done, Event, Refused, Snapshot, Welcome
from saratoga_protocol.refusals import REASONS, RETRIED, CloseCode
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.position import redact
from saratoga_server.domain.board import Board
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.live.session import Session
from saratoga_server.transport.connection import PlayerConnection

AT_ONCE = Backoff(first=0.0, largest=0.0, shortest=0.0)

ANSWERED_AT_ONCE = (Hello, Heartbeat)
"""Commands sent by the connection itself, which the server answers without a step of the test."""


async def run_ready_tasks() -> None:
    """Run all tasks until each of them is waiting."""
    for _ in range(20):
        await asyncio.sleep(0)


class ServerEnd(PlayerConnection):
    """The server's end of one connection; it keeps the frames that the test has not delivered."""

    is_open = True

    def __init__(self) -> None:
        self.undelivered: deque[Frame] = deque()
        self.delivered: asyncio.Queue[Frame | None] = asyncio.Queue()
        self.close_frame: Close | None = None

    def send(self, frame: Frame) -> None:
        self.undelivered.append(frame)

    def close(self, code: CloseCode) -> None:
        self.deliver_all()
        self.close_frame = Close(code.code, code.reason)
        self.end()

    leave = close

    def deliver(self) -> None:
        if self.undelivered:
            self.delivered.put_nowait(self.undelivered.popleft())

    def deliver_all(self) -> None:
        while self.undelivered:
            self.deliver()

    def end(self) -> None:
        """End the connection: no frame is delivered after this."""
        self.is_open = False
        self.undelivered.clear()
        self.delivered.put_nowait(None)


class ClientEnd:
    """The client's end of one connection."""

    def __init__(self, network: "SteppedNetwork", codec: Codec) -> None:
        self._network = network
        self._codec = codec
        self.peer = ServerEnd()
        self.session = Session(connection=self.peer, codec=codec, address="-", number=1)
        network.server.node.dispatcher.connected(self.session)

    async def send(self, message: Frame) -> None:
        command = self._codec.decode_command(message)
        is_restored = isinstance(command, JoinTable) and command.table == self.session.home
        if is_restored or isinstance(command, ANSWERED_AT_ONCE):
            self.session.send(await self.answer(command))
            self.peer.deliver_all()
        elif self.peer.is_open:
            self._network.commands.append(command)

    async def recv(self) -> Frame:
        frame = await self.peer.delivered.get()
        if frame is None:
            raise ConnectionClosedError(self.peer.close_frame, None)
        return frame

    async def answer(self, command: Command) -> Event:
        with self._network.working():
            return await self._network.server.node.dispatcher.answer(self.session, command)


class SteppedNetwork:
    """The network between one client and the server."""

    def __init__(self, server: InProcessServer) -> None:
        self.server = server
        self.commands: deque[Command] = deque()
        """Commands that the server has not received yet."""
        self.answered: list[Command] = []
        """Commands that the server has answered in steps."""
        self.refusals: deque[tuple[str, bool]] = deque()
        """Codes that refuse the next commands; with `True` the server carries out the command all the same."""
        self._working = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._up = asyncio.Event()
        self._up.set()
        self._client: ClientEnd | None = None

    @asynccontextmanager
    async def open(self, url: str, subprotocol: str, within: float) -> AsyncIterator[ClientEnd]:
        await self._up.wait()
        self._client = ClientEnd(self, CODECS[subprotocol])
        yield self._client

    def connection(self, name: str) -> Connection:
        """Return the connection of a player over this network."""
        opened = cast(OpenSocket, self.open)
        return Connection(
            "ws://stepped.invalid", token_of(name), name=name, backoff=AT_ONCE, open_socket=opened
        )

    @property
    def is_up(self) -> bool:
        return self._up.is_set()

    @property
    def has_work(self) -> bool:
        """Whether a command or an event is on its way."""
        client = self._client
        return bool(self.commands) or (client is not None and bool(client.peer.undelivered))

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count the server as working on a command within the block; its store takes real time."""
        self._working += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._working -= 1
            if not self._working:
                self._idle.set()

    async def quiet(self) -> None:
        """Wait until the client waits for the network and the server works on no command."""
        await run_ready_tasks()
        while self._working:
            await self._idle.wait()
            await run_ready_tasks()

    async def answer_one(self) -> None:
        """Let the server receive and answer the next command."""
        client = self._client
        if client is None or not self.commands:
            return
        command = self.commands.popleft()
        self.answered.append(command)
        code, is_done = self.refusals.popleft() if self.refusals else ("", True)
        answer: Event = refused(command.id, code) if code else Done()
        if is_done:
            real = await client.answer(command)
            answer = answer if code else real
        client.session.send(answer)

    def deliver_one(self) -> None:
        """Deliver the next event to the client."""
        if self._client is not None:
            self._client.peer.deliver()

    def send_event(self, event: Event) -> None:
        """Send the client an event that an honest server would not send, or not at this moment."""
        assert self._client is not None, "the client is connected"
        self._client.session.send(event)

    async def cut(self) -> None:
        """Cut the connection: all data on its way is lost, and the client cannot reconnect."""
        await self.quiet()
        self._up.clear()
        self.commands.clear()
        client, self._client = self._client, None
        if client is not None:
            client.peer.end()
            await self.server.node.dispatcher.disconnected(client.session)
        await self.quiet()

    async def restore(self) -> None:
        """Let the client reconnect."""
        self._up.set()
        await self.quiet()

    async def settle(self) -> None:
        """Answer commands and deliver events until none is on its way."""
        idle = 0
        while idle < 3:
            idle = 0 if self.has_work else idle + 1
            await self.answer_one()
            self.deliver_one()
            await self.quiet()


def refused(command_id: int, code: str) -> Refused:
    """Return the refusal of a command, with the message that the server sends for that code."""
    return Refused(re=command_id, code=code, message=REASONS[code], retry=code in RETRIED)


Result = TypeVar("Result")


class SteppedSession:
    """A client's session of a player at a table, on a server in the test's own process."""

    def __init__(
        self, network: SteppedNetwork, connection: Connection, folder: Path | None = None
    ) -> None:
        """`folder` keeps what was seen and the records; without one they are kept in memory."""
        self.network = network
        self.server = network.server
        self.connection = connection
        self.session = TableSession(
            connection,
            witness=Witness(folder / "witness") if folder else Witness(in_memory=True),
            records=RecordStore(folder / "records") if folder else RecordStore(in_memory=True),
            backoff=AT_ONCE,
        )
        self.attending: asyncio.Future[None]

    @property
    def state(self) -> SessionState:
        assert self.session.state is not None
        return self.session.state

    @property
    def own(self) -> OwnBoard:
        assert self.state.own is not None
        return self.state.own

    async def do(self, action: Awaitable[Result]) -> Result:
        """Start an action of the player, answer and deliver all messages, and return the action's result."""
        doing = asyncio.ensure_future(action)
        async with asyncio.timeout(RECEIVED_WITHIN):
            while not doing.done():
                await self.settle()
        return await doing

    async def receive(self, *sent: Event) -> None:
        """Deliver events that an honest server would not send, or not at this moment."""
        for event in sent:
            self.network.send_event(event)
        await self.settle()

    async def problem(self) -> Problem:
        """Wait until a problem ends the session; return the problem."""
        with pytest.raises(Problem) as ended:
            await self.attending
        return ended.value

    async def settle(self) -> None:
        """Answer and deliver until no message is on its way and the server has finished its work."""
        await self.network.settle()
        await self.server.settle()
        while self.network.has_work:
            await self.network.settle()
            await self.server.settle()

    async def pass_time(self, millis: int) -> None:
        """Advance the server's time and deliver the events that this causes."""
        await self.server.pass_time(millis)
        await self.settle()

    async def gather(self, game: str = "canfield", cap: int = 10) -> str:
        """Open a table and return its code."""
        return (await self.do(self.session.open_table(game, cap=cap))).code

    async def start_race(self) -> None:
        """Start a race against Ben, who makes no move, and wait until the boards are dealt."""
        rival = await self.server.player("Ben")
        await rival.at_table(JoinTable, table=self.state.table.code)
        await rival.ready()
        await self.do(self.session.ready())
        await self.do(self.session.send(Start))
        await rival.reveal()
        await self.settle()
        await self.pass_time(COUNTDOWN_MILLIS)
        assert self.own.is_racing

    async def on_another_device(self, kind: type[Command], **fields: object) -> None:
        """Disconnect, and meanwhile send a command about the race from another device."""
        await self.network.cut()
        device = await self.server.player("Ann")
        await device.at_table(JoinTable, table=self.state.table.code)
        await device.ask(kind, race=self.own.race, **fields)
        await device.disconnect()

    # The server's side

    async def board(self) -> Board:
        """Return the player's board at the server."""
        race = self.server.node.races.known(self.own.race)
        assert race is not None
        _, board = await self.server.node.races.board(race, self.state.player)
        return board

    async def check_board(self) -> None:
        """Check that the shown board is the server's board."""
        board = await self.board()
        assert self.own.in_flight == ()
        assert self.own.shown == redact(board.position)
        assert self.own.state == board.state
        assert self.own.count == board.length

    async def moves(self) -> list[str]:
        """Return the entries of the board's log at the server."""
        return [entry.text for entry in (await self.board()).log]


@asynccontextmanager
async def stepped_session(deal: Deal = deal_for_key) -> AsyncIterator[SteppedSession]:
    """Open a server and connect one player, who is at no table yet."""
    async with open_in_process_server(deal) as server:
        network = SteppedNetwork(server)
        with TemporaryDirectory() as folder:
            async with network.connection("Ann") as connection:
                stepped = SteppedSession(network, connection, Path(folder))
                stepped.attending = asyncio.create_task(stepped.session.attend())
                try:
                    yield stepped
                finally:
                    stepped.attending.cancel()
                    await asyncio.gather(stepped.attending, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class OpenLobby:
    """A server on a port and the clients connected to it, who stay until the end of the test."""

    url: str
    _players: AsyncExitStack

    async def player(self, name: str | None = None, token: str = "") -> Connection:
        """Connect a player."""
        return await self._players.enter_async_context(
            Connection(self.url, token or new_token(), name=name)
        )

    async def host(self, name: str, *, public: bool = False) -> str:
        """Connect a player who creates a table; return the table's code."""
        player = await self.player(name)
        wish = partial(CreateTable, game="lafayette", cap=5, public=public)
        return (await player.ask(wish, Snapshot)).table.code

    async def sit_down(self, name: str, code: str) -> Connection:
        """Connect a player who joins a table."""
        player = await self.player(name)
        await player.ask(partial(JoinTable, table=code), Snapshot)
        return player


@asynccontextmanager
async def open_lobby() -> AsyncIterator[OpenLobby]:
    """Open a server without players."""
    async with (
        empty_store() as store,
        listening_server(store) as server,
        AsyncExitStack() as players,
    ):
        yield OpenLobby(server.url, players)


TOKEN = "5a" * 32
PLAYER = player_id(TOKEN)
HEARD_WITHIN = 60.0
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

    async def command(self, within: float | None = HEARD_WITHIN) -> Command:
        """Return the client's next command other than a hello or a heartbeat."""
        async with asyncio.timeout(within):
            return await self._commands.get()

    async def send(self, *sent: Event) -> None:
        for event in sent:
            await self._socket.send(self._codec.encode(event))

    def send_together(self, *sent: Event) -> None:
        """Send events in one write, which the client receives in one read."""
        encoded = b""
        for frame in map(self._codec.encode, sent):
            if isinstance(frame, bytes):
                encoded += WebSocketFrame(Opcode.BINARY, frame).serialize(mask=False)
            else:
                encoded += WebSocketFrame(Opcode.TEXT, frame.encode()).serialize(mask=False)
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
        async with asyncio.timeout(HEARD_WITHIN):
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


def snapshot(re: int | None = None, code: str = CODE) -> Snapshot:
    """Return a table that gathers, whose host has the token `TOKEN`; nobody has a seat."""
    shown = replace(table("", "gathering"), code=code, race=f"{code}/1", host=PLAYER)
    return Snapshot(re=re, table=shown, now=NOON)
