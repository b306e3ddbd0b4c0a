"""Players for tests: they send commands to a server and keep everything that they receive.

A `Player` has the same methods for every transport. A `MemoryPlayer` calls a server in the test's
own process: it has its own `Session` and no network, and awaits only the server. A `SocketPlayer`
(`kit.players`) uses a bare WebSocket.
"""

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from msgspec import structs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from kit.tables import nonce, nonce_hash
from saratoga_protocol.codec import CODECS, MSGPACK, Codec
from saratoga_protocol.commands import CashOut, Command, Hello, MakeMove, Ready, Reveal
from saratoga_protocol.events import (
    BoardChanged,
    BoardView,
    Event,
    Match,
    MatchChanged,
    Refused,
    Snapshot,
    Table,
    TableChanged,
    Welcome,
)
from saratoga_protocol.refusals import CloseCode
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.session import Session
from saratoga_server.transport.connection import PlayerConnection

RECEIVED_WITHIN = 20.0
"""Longest time in seconds that a test waits for an event; a bound, not a measurement."""

E = TypeVar("E")


def token_of(name: str) -> str:
    """Return the token of the player with that name, the same in every test."""
    return hashlib.sha256(f"token of {name}".encode()).hexdigest()


class Disconnected(Exception):
    """An error: the server has closed the connection."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code


class Received:
    """Every frame that one connection has received, and the events in them."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.frames: list[bytes | str] = []
        self.events: list[Event] = []
        self._more = asyncio.Event()
        self._end: Disconnected | None = None

    def add(self, frame: bytes | str) -> None:
        """Keep a frame and wake all tasks that wait for an event."""
        self.frames.append(frame)
        self.events.append(self.codec.decode_event(frame))
        self._wake()

    def end(self, how: Disconnected) -> None:
        """Make every present and later wait for an event raise the error `how`."""
        self._end = how
        self._wake()

    def _wake(self) -> None:
        more, self._more = self._more, asyncio.Event()
        more.set()

    def all(self, kind: type[E], since: int = 0) -> list[E]:
        """Return the events of that kind, from the event with index `since` on."""
        return [event for event in self.events[since:] if isinstance(event, kind)]

    def deals(self) -> list[BoardChanged]:
        """Return the deals."""
        return [event for event in self.all(BoardChanged) if not event.entries]

    def endings(self, since: int = 0) -> list[BoardChanged]:
        """Return the ends of the board by the server, from the event with index `since` on."""
        boards = self.all(BoardChanged, since)
        return [event for event in boards if event.entries and event.re is None]

    async def next(self, kind: type[E], since: int, **wanted: object) -> E:
        """Wait for an event of that kind with these fields, from the event with index `since` on.

        Raises `Disconnected` if the connection ends first.
        """
        async with asyncio.timeout(RECEIVED_WITHIN):
            while True:
                for event in self.all(kind, since):
                    if all(getattr(event, name) == value for name, value in wanted.items()):
                        return event
                if self._end is not None:
                    raise self._end
                since = len(self.events)
                await self._more.wait()


class Player(ABC):
    """A player with a name and a token. A subclass for each transport sends the commands."""

    def __init__(
        self, name: str, received: Received, *, bot: bool = False, legal: bool = False
    ) -> None:
        self.name = name
        self.token = token_of(name)
        self.received = received
        """Everything that the player has received."""
        self.bot = bot
        self.legal = legal
        self.player = ""
        self.last_id = 0

    @abstractmethod
    async def exchange(self, command: Command) -> Event:
        """Send a command and return its response."""

    async def send(self, command: Command) -> Event:
        """Send a command that already has an id; return the response."""
        self.last_id = max(self.last_id, command.id)
        return await self.exchange(command)

    async def expect(self, kind: type[E], since: int = 0, **wanted: object) -> E:
        """Wait for such an event, as `Received.next` does."""
        return await self.received.next(kind, since, **wanted)

    async def ask(self, kind: type[Any], **fields: object) -> Any:
        """Make a command of that kind with the next id and send it; return the response."""
        self.last_id += 1
        return await self.exchange(kind(id=self.last_id, **fields))

    async def refused(self, kind: type[Any], **fields: object) -> str:
        """Send a command that the server must refuse; return the refusal's code."""
        answer = await self.ask(kind, **fields)
        assert isinstance(answer, Refused), answer
        assert answer.re == self.last_id
        assert answer.message.endswith(".")
        return answer.code

    async def hello(self, *, name: str | None = None, level: str = "") -> Welcome:
        """Say hello with the player's token and name."""
        welcome = await self.ask(
            Hello,
            token=self.token,
            name=self.name if name is None else name,
            bot=self.bot,
            level=level,
            legal=self.legal,
        )
        assert isinstance(welcome, Welcome), welcome
        self.player = welcome.player
        return welcome

    async def at_table(self, kind: type[Any], **fields: object) -> Snapshot:
        """Create, join, resume or watch a table."""
        snapshot = await self.ask(kind, **fields)
        assert isinstance(snapshot, Snapshot), snapshot
        return snapshot

    # What the player knows from the events received

    @property
    def table(self) -> Table:
        """The table as the newest event shows it."""
        table = None
        for event in self.received.events:
            if isinstance(event, TableChanged | Snapshot):
                table = event.table
        assert table is not None
        return table

    @property
    def match(self) -> Match | None:
        """The match at the table as the newest event shows it."""
        told = [e for e in self.received.events if isinstance(e, Snapshot | MatchChanged)]
        return told[-1].match if told else None

    @property
    def board(self) -> BoardView:
        """The player's own board as the newest event shows it."""
        boards = [getattr(event, "board", None) for event in self.received.events]
        return cast(BoardView, [board for board in boards if board is not None][-1])

    # What racers send

    async def ready(self) -> Event:
        table = self.table
        return cast(
            Event,
            await self.ask(
                Ready,
                table=table.code,
                commitment=table.commitment,
                nonce_hash=nonce_hash(self.player),
            ),
        )

    async def call_ended(self) -> None:
        """Wait until the call of the countdown has ended, so that the racers are listed."""
        while not self.table.racers:
            await self.expect(TableChanged, since=len(self.received.events))

    async def reveal(self) -> Event:
        """Reveal the nonce when the call has ended."""
        await self.call_ended()
        answer = await self.ask(Reveal, table=self.table.code, nonce=nonce(self.player))
        return cast(Event, answer)

    async def move(self, text: str, **fields: object) -> Event:
        """Send a move for the newest board received."""
        board = self.board
        given = {"race": board.race, "after": board.count, "move": text} | fields
        return cast(Event, await self.ask(MakeMove, **given))

    async def moves(self, *texts: str) -> BoardChanged:
        """Send these moves, which must be legal; return the response to the last one."""
        made: list[BoardChanged] = []
        for text in texts:
            answer = await self.move(text)
            assert isinstance(answer, BoardChanged), answer
            made.append(answer)
        return made[-1]

    async def cash_out(self) -> BoardChanged:
        answer = await self.ask(CashOut, race=self.board.race)
        assert isinstance(answer, BoardChanged), answer
        return answer


@dataclass
class RecordingConnection(PlayerConnection):
    """A connection that keeps the frames sent over it."""

    received: Received
    closed: list[CloseCode] = field(default_factory=list)
    is_open: bool = True

    def send(self, frame: bytes | str) -> None:
        self.received.add(frame)

    def close(self, code: CloseCode) -> None:
        self.closed.append(code)

    leave = close


class MemoryPlayer(Player):
    """A player without a socket, who calls the server in the test's own task."""

    def __init__(
        self,
        server: Dispatcher,
        name: str,
        *,
        subprotocol: str = MSGPACK,
        pass_time_until: Callable[[int], Awaitable[None]] | None = None,
        **options: bool,
    ) -> None:
        """`pass_time_until`: advances the server's clock, if it does not run by itself."""
        super().__init__(name, Received(CODECS[subprotocol]), **options)
        self.pass_time_until = pass_time_until
        self.connection = RecordingConnection(self.received)
        self.session = Session(
            connection=self.connection, codec=self.received.codec, address="-", number=1
        )
        self.server = server
        server.connected(self.session)

    async def call_ended(self) -> None:
        table = self.table
        if self.pass_time_until is None:
            await super().call_ended()
        elif table.phase == "call":
            await self.pass_time_until(table.call_until)

    async def exchange(self, command: Command) -> Event:
        # through both codecs, as over a socket
        codec = self.received.codec
        read = codec.decode_command(codec.encode(command))
        response = await self.server.answer(self.session, read)
        self.session.send(response)
        return response

    async def disconnect(self) -> None:
        """Notify the server that the connection is lost."""
        await self.server.disconnected(self.session)

    @property
    def close_codes(self) -> list[int]:
        """The codes with which the server has closed the connection."""
        return [code.code for code in self.connection.closed]


def plain(event: Any) -> dict[str, Any]:
    """Return the fields of an event without `re`, which differs between connections."""
    return {name: value for name, value in structs.asdict(event).items() if name != "re"}


LARGEST_EVENT = 4 * 1024 * 1024
"""The largest event in bytes that a client should accept (protocol/README.md)."""


class SocketPlayer(Player):
    """A player on a real WebSocket."""

    def __init__(self, socket: ClientConnection, name: str, **options: bool) -> None:
        super().__init__(name, Received(CODECS[socket.subprotocol or ""]), **options)
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
    url: str, name: str, *, subprotocol: str = MSGPACK, **options: bool
) -> AsyncIterator[SocketPlayer]:
    """Connect a player who has not said hello, with options of `Player`."""
    async with connect(
        url,
        subprotocols=[Subprotocol(subprotocol)],
        compression=None,
        max_size=LARGEST_EVENT,
        ping_interval=None,
        close_timeout=1,
    ) as socket:
        came = SocketPlayer(socket, name, **options)
        try:
            yield came
        finally:
            await socket.close()
            await came.closed()


@asynccontextmanager
async def player_at(url: str, name: str, **options: Any) -> AsyncIterator[SocketPlayer]:
    """Connect a player who has said hello."""
    async with connected_player(url, name, **options) as came:
        await came.hello()
        yield came
