"""Ways to hand bytes to a gateway: a real one with stub commands, clients that send bytes of the
test's choice over TCP, and connections without a network.

A raw client reads only when the test reads, answers no ping, and may stop anywhere in a frame.
"""

import asyncio
import select
import socket
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from typing import Any, Final, cast

from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from kit.players import RECEIVED_WITHIN
from saratoga_protocol.codec import CODECS, MSGPACK
from saratoga_protocol.commands import Command, GetRecord, Hello, MakeMove
from saratoga_protocol.events import Done, Event, Record
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.limits import Quota, RateLimiter
from saratoga_server.live.session import Session
from saratoga_server.metrics import Metrics
from saratoga_server.transport.admission import Pages
from saratoga_server.transport.connection import PlayerConnection
from saratoga_server.transport.gateway import Gateway, GatewaySettings
from saratoga_server.transport.http_responses import refusal_page, response
from saratoga_server.transport.web_files import KINDS, WebFile, WebFiles, web_file

NOW = 1_790_000_000_000


@dataclass
class StubCommands:
    """A handler that answers every command with `Done`, at once or when the test allows it."""

    sessions: list[Session] = field(default_factory=list)
    carried_out: list[Command] = field(default_factory=list)
    left: asyncio.Queue[Session] = field(default_factory=asyncio.Queue)
    waits: dict[int, asyncio.Event] = field(default_factory=dict)
    """The ids of commands that are answered only when their event is set."""
    record: str | None = None
    """The text of the record in every response to `GetRecord`."""
    move: Any = None
    """The result of every `begin_move`."""
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first move has begun."""

    def connected(self, session: Session) -> None:
        self.sessions.append(session)

    def begin_move(self, session: Session, command: MakeMove) -> Any:
        self.begun.set()
        return self.move

    async def answer(self, session: Session, command: Command) -> Event:
        if isinstance(command, Hello):
            session.player = "p" * 16
        if command.id in self.waits:
            await self.waits[command.id].wait()
        self.carried_out.append(command)
        if isinstance(command, GetRecord) and self.record is not None:
            return Record(re=command.id, race=command.race, text=self.record)
        return Done(re=command.id)

    def finish_move(self, session: Session, move: Any) -> Event | None:
        answer: Event | None = move.finish()
        return answer

    async def explain(self, session: Session, move: Any) -> Event:
        answer: Event = await move.explain()
        return answer

    async def disconnected(self, session: Session) -> None:
        await self.left.put(session)

    def now(self) -> int:
        return NOW

    @property
    def connections(self) -> list[PlayerConnection]:
        """Return the connections of all sessions, including ended ones."""
        found = [session.connection for session in self.sessions]
        return [each for each in found if isinstance(each, PlayerConnection)]

    async def next_ended(self) -> Session:
        """Wait until a session's connection ends; return the session."""
        async with asyncio.timeout(RECEIVED_WITHIN):
            return await self.left.get()


@dataclass
class OpenGateway:
    commands: StubCommands
    gateway: Gateway
    metrics: Metrics
    port: int

    @property
    def url(self) -> str:
        """Return the address for clients."""
        return f"ws://127.0.0.1:{self.port}"


async def no_pages(request: Request) -> Response:
    return response(
        refusal_page(HTTPStatus.NOT_FOUND, "no_such_page", "There is no page."), request.method
    )


@asynccontextmanager
async def open_gateway(
    dispatcher: Dispatcher | None = None,
    metrics: Metrics | None = None,
    *,
    rate: float = 0,
    burst: float = 100,
    proxies: int = 0,
    per_address: float | None = 1.0,
    pages: Pages = no_pages,
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[OpenGateway]:
    """Open a gateway; by default stubs answer the commands."""
    commands, metrics = StubCommands(), metrics or Metrics()
    settings = GatewaySettings(
        host="127.0.0.1",
        port=0,
        tls=tls,
        rate=rate,
        burst=burst,
        trusted_proxies=proxies,
        per_address=per_address,
    )
    gateway = Gateway(dispatcher or cast(Dispatcher, commands), settings, pages, metrics)
    port = await gateway.open()
    watching = asyncio.create_task(gateway.watch())
    try:
        yield OpenGateway(commands, gateway, metrics, port)
    finally:
        await gateway.close()
        watching.cancel()
        await asyncio.wait([watching])


OWN: Final = Headers([("Host", "localhost:7470")])
"""The headers of a browser that asks by a name of the server."""

SCRIPT: Final = web_file(b"export const nothing = 0;\n" * 20, KINDS[".js"])
SMALL: Final = web_file(b"{}", KINDS[".css"])

WEB_FILES: Final = WebFiles(
    version="0123456789abcdef0123",
    index=web_file(b"<!doctype html><head><title>Saratoga</title></head>", KINDS[".html"]),
    files={"main.js": SCRIPT, "page.css": SMALL},
)


def asking(**more: str) -> Headers:
    """Return a browser's headers; `accept_encoding` stands for `Accept-Encoding`."""
    return Headers(
        [*OWN.raw_items(), *((name.replace("_", "-"), value) for name, value in more.items())]
    )


def tag_of(file: WebFile, *, compressed: bool = False) -> str:
    """Return the entity tag of a file."""
    return f'"{file.tag}-gzip"' if compressed else f'"{file.tag}"'


class FakeTransport(asyncio.Transport):
    """A transport that keeps all bytes that the server writes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.has_ended = False
        self.is_paused = False
        self.closed = False
        self.held = 0
        """The size of the write buffer in bytes."""
        self.fault: Exception | None = None
        """If set, every write raises this error."""
        self.wrote = asyncio.Event()

    def get_write_buffer_size(self) -> int:
        return self.held

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closed
        if self.fault is not None:
            raise self.fault
        self.wrote.set()
        self.written += bytes(data)

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.has_ended = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        self.is_paused = True

    def resume_reading(self) -> None:
        self.is_paused = False


class FakeOwner:
    """An owner of connections that keeps the messages they receive."""

    def __init__(self) -> None:
        self.messages: list[bytes | str] = []
        self.answers_at_once = True
        self.ends: list[Session] = []
        self.losses = 0
        self.slow_readers = 0
        self.refusals = Counter[str]()

    def connected(self, connection: PlayerConnection) -> Quota:
        limiter = RateLimiter(
            monotonic, factor=None, rate=0, on_refused=lambda action: self.refusals.update([action])
        )
        return limiter.open(connection.address)

    @property
    def runner(self) -> "FakeOwner":
        return self

    def begin(self, connection: PlayerConnection, session: Session, message: bytes | str) -> None:
        self.messages.append(message)
        if not self.answers_at_once:
            connection.answering()

    def stopped_reading(self) -> None:
        self.slow_readers += 1

    def lost(self, connection: PlayerConnection) -> None:
        self.losses += 1

    def ended(self, session: Session) -> None:
        self.ends.append(session)


def open_connection(
    owner: FakeOwner, transport: FakeTransport | None = None
) -> tuple[PlayerConnection, FakeTransport]:
    """Return a connection whose session has begun, and its transport."""
    transport = transport or FakeTransport()
    connection = PlayerConnection(cast(Gateway, owner))
    connection.connection_made(transport)
    session = Session(connection=connection, codec=CODECS[MSGPACK], address="192.0.2.1", number=1)
    connection.opened(session)
    return connection, transport


async def settle() -> None:
    """Run the event loop until all scheduled callbacks have run."""
    for _ in range(200):
        await asyncio.sleep(0)


REQUEST_LINE: Final = "GET / HTTP/1.1"
HEADERS: Final = (
    "Host: server",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version: 13",
)
"""The headers of a WebSocket handshake, without the subprotocol."""

BINARY, PING, PONG = 2, 9, 10
SMALL_WINDOW = 4096
"""The size in bytes of the receive buffer of a connection that does not read."""

LOOK_EVERY = 0.02
"""Seconds between two polls."""

KEEPALIVE = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1}
"""Seconds between the kernel's probes, without which a reset may be lost in a full buffer."""


def request(first: str, *headers: str) -> bytes:
    """Encode an HTTP request with these headers."""
    return "\r\n".join((first, *headers, "", "")).encode("latin-1")


def handshake(*more: str, without: Sequence[str] = (), subprotocol: str | None = MSGPACK) -> bytes:
    """Encode a WebSocket handshake with more headers, and without those named in `without`."""
    kept = [line for line in HEADERS if not line.startswith(tuple(without) or ("\0",))]
    if subprotocol is not None:
        kept.append(f"Sec-WebSocket-Protocol: {subprotocol}")
    return request(REQUEST_LINE, *kept, *more)


def frame(payload: bytes = b"", opcode: int = BINARY, *, fin: bool = True) -> bytes:
    """Return a WebSocket frame as clients send it, masked with zeros."""
    first, size = (0x80 if fin else 0) | opcode, len(payload)
    if size < 126:
        head = bytes((first, 0x80 | size))
    elif size < 65536:
        head = struct.pack("!BBH", first, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", first, 0x80 | 127, size)
    return head + bytes(4) + payload


@dataclass(frozen=True, slots=True)
class RawResponse:
    """All bytes that the server sent until it closed the connection."""

    raw: bytes

    @property
    def status(self) -> int:
        """The status of the first HTTP response, 0 if there is none."""
        return int(self.raw[9:12]) if self.raw.startswith(b"HTTP/1.1 ") else 0

    @property
    def headers(self) -> dict[str, str]:
        """Headers by lower-case name."""
        lines = self.raw.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(": ") for line in lines)
        return {name.lower(): value for name, _, value in pairs}

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def answers(self) -> int:
        """The number of HTTP responses."""
        return self.raw.count(b"HTTP/1.1 ")


async def exchange(port: int, opening: bytes, then: bytes = b"") -> RawResponse:
    """Send an opening, and `then` after a response; read until the server closes the connection."""
    raw = b""
    with raw_socket(port, window=None) as client:
        await client.say(opening)
        while b"\r\n\r\n" not in raw and (piece := await client.read()):
            raw += piece
        with suppress(OSError):  # the server may have closed the connection
            await client.say(then, is_last=True)
        return RawResponse(raw + await client.read_to_the_end())


class RawSocket:
    """A client's socket whose blocking calls run in threads."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def say(self, data: bytes, *, is_last: bool = False) -> None:
        """Send all bytes, the last ones if `is_last`. Raises `OSError` if the connection is lost."""
        await asyncio.to_thread(self._connection.sendall, data)
        if is_last:
            self._connection.shutdown(socket.SHUT_WR)

    async def read(self, most: int = 65536) -> bytes:
        """Receive and return at most `most` bytes; empty at the end of the connection."""
        try:
            return await asyncio.to_thread(self._connection.recv, most)
        except ConnectionError:
            return b""

    async def read_to_the_end(self) -> bytes:
        """Receive and return all bytes until the server closes the connection."""
        found = b""
        async with asyncio.timeout(RECEIVED_WITHIN):
            while piece := await self.read():
                found += piece
        return found

    async def shake_hands(self, *headers: str) -> bytes:
        """Send the WebSocket handshake; return the head of the response."""
        await self.say(handshake(*headers))
        head = b""
        while not head.endswith(b"\r\n\r\n") and (piece := await self.read(1)):
            head += piece
        return head

    async def dropped(self, within: float = RECEIVED_WITHIN) -> bool:
        """Wait, without reading, until the server drops the connection; return False if not."""
        poll = select.poll()
        poll.register(self._connection, select.POLLRDHUP)  # not for what there is to read
        try:
            async with asyncio.timeout(within):
                while not poll.poll(0):  # noqa: ASYNC110 - nothing tells of it otherwise
                    await asyncio.sleep(LOOK_EVERY)
        except TimeoutError:
            return False
        return True


@contextmanager
def raw_socket(
    port: int, *, window: int | None = SMALL_WINDOW, tls: ssl.SSLContext | None = None
) -> Iterator[RawSocket]:
    """Connect to `port` on this machine; `window` limits the receive buffer in bytes."""
    with socket.socket() as plain:
        if window is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, seconds in KEEPALIVE.items():
            if hasattr(socket, option):
                plain.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), seconds)
        plain.settimeout(RECEIVED_WITHIN)
        plain.connect(("127.0.0.1", port))
        if tls is None:
            yield RawSocket(plain)
        else:
            # the handshake and the first bytes are sent in one thread
            with tls.wrap_socket(
                plain, server_hostname="localhost", do_handshake_on_connect=False
            ) as wrapped:
                yield RawSocket(wrapped)
