"""A proxy for TCP and Unix connections with faults that a test switches on.

A link can cut its connections, drop all data while they stay open, stop reading from the server,
lose an answer, or change what a client sends. Players connect through a link to the server, and the
server connects through a link to its store.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

CONNECT_WITHIN = 1.0
"""Longest time in seconds to connect to a server on this machine."""

Transform = Callable[[bytes], bytes]
"""A function that receives bytes and returns the bytes to forward in their place."""

Dial = Callable[[Callable[[], asyncio.Protocol]], Awaitable[asyncio.Transport]]
"""A function that connects to the server behind the link; it raises `OSError` if no server accepts."""


def unchanged(data: bytes) -> bytes:
    return data


class LinkConnection:
    """A connection through a link: from the client to the link, and from the link to the server."""

    def __init__(self, on_end: Callable[["LinkConnection"], None]) -> None:
        self.to_server: Transform = unchanged
        self.to_client: Transform = unchanged
        self.is_half_open = False
        """If true, drop all data in both directions, and hide from each side that the other has closed."""
        self.late_until = 0.0
        """The event loop's time until which data is on its way to the client, after which comes the server's end."""
        self._on_end = on_end
        self._client: asyncio.Transport | None = None
        self._server: asyncio.Transport | None = None
        self._early: list[bytes] = []
        self._is_stalled = False
        self._is_over = False

    @property
    def is_open(self) -> bool:
        return self._server is not None

    @property
    def server_port(self) -> int:
        """The TCP port that the connection leads to, 0 if it is not connected to the server."""
        if self._server is None:
            return 0
        port: int = self._server.get_extra_info("peername")[1]
        return port

    @property
    def ends(self) -> frozenset[str]:
        """The addresses of the client and of the link, without their ports."""
        names = ("peername", "sockname") if self._client else ()
        return frozenset(self._client.get_extra_info(each)[0] for each in names)  # type: ignore[union-attr]

    def client_side(self) -> asyncio.Protocol:
        """Return the protocol for the client's connection."""
        return _Side(self._from_client, self._client_lost, self._client_made)

    async def connect(self, dial: Dial) -> None:
        """Connect to the server; disconnect the client if that fails."""
        try:
            server = await dial(lambda: _Side(self._from_server, self._server_lost))
        except OSError:
            self.cut()
            return
        if self._is_over:
            server.abort()
            return
        self._server = server
        if self._is_stalled:
            server.pause_reading()
        early, self._early = self._early, []
        for data in early:
            self._from_client(data)

    def send_to_server(self, data: bytes) -> None:
        """Send bytes to the server as if they came from the client."""
        if self._server is not None:
            self._server.write(data)

    def send_to_client(self, data: bytes) -> None:
        """Send bytes to the client as if they came from the server."""
        if self._client is not None:
            self._client.write(data)

    def stall(self) -> None:
        """Stop reading from the server."""
        self._is_stalled = True
        if self._server is not None:
            self._server.pause_reading()

    def resume(self) -> None:
        """Read from the server again."""
        if self._is_stalled and self._server is not None:
            self._server.resume_reading()
        self._is_stalled = False

    def cut(self) -> None:
        """Reset the connections to both sides."""
        client, server = self._client, self._server
        self._client = self._server = None
        for side in (client, server):
            if side is not None:
                side.abort()
        if not self._is_over:
            self._is_over = True
            self._on_end(self)

    def lose(self) -> bytes:
        """Cut the connection from within a transform; return no bytes to forward."""
        self.is_half_open = True
        asyncio.get_running_loop().call_soon(self.cut)
        return b""

    def _client_made(self, client: asyncio.Transport) -> None:
        if self._is_over:
            client.abort()
        else:
            self._client = client

    def _from_client(self, data: bytes) -> None:
        if self.is_half_open:
            return
        if self._server is None:
            self._early.append(data)
        elif changed := self.to_server(data):
            self._server.write(changed)

    def _from_server(self, data: bytes) -> None:
        if self.is_half_open or self._client is None:
            return
        if changed := self.to_client(data):
            self._client.write(changed)

    def _client_lost(self) -> None:
        self._client = None
        if not self.is_half_open or self._server is None:
            self.cut()

    def _server_lost(self) -> None:
        self._server = None
        if not self.is_half_open or self._client is None:
            loop = asyncio.get_running_loop()
            if loop.time() < self.late_until:
                loop.call_at(self.late_until, self.cut)
            else:
                self.cut()


class _Side(asyncio.Protocol):
    """The client's or the server's side of a connection."""

    def __init__(
        self,
        on_data: Callable[[bytes], None],
        on_lost: Callable[[], None],
        on_made: Callable[[asyncio.Transport], None] = lambda transport: None,
    ) -> None:
        self._on_data = on_data
        self._on_lost = on_lost
        self._on_made = on_made

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._on_made(cast("asyncio.Transport", transport))

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_lost()


LinkFault = Callable[["FaultyLink", LinkConnection], None]
"""A function that sets the transforms of a new connection before any data passes."""


def no_fault(link: "FaultyLink", connection: LinkConnection) -> None:
    """Forward everything unchanged."""


class FaultyLink:
    """A proxy at `url` that forwards each connection to the server that `dial` connects to."""

    def __init__(self, dial: Dial, fault: LinkFault = no_fault) -> None:
        self.url = ""
        self.fault = fault
        """The fault of connections that are opened later."""
        self.connections: set[LinkConnection] = set()
        self.newest: LinkConnection | None = None
        """The connection that was opened last, `None` once it is closed."""
        self.answers_lost = 0
        self.has_lost_answer = asyncio.Event()
        self._dial = dial
        self._dialling: set[asyncio.Task[None]] = set()

    @property
    def server_port(self) -> int:
        """The TCP port that the newest connection leads to, 0 if there is none."""
        return 0 if self.newest is None else self.newest.server_port

    @property
    def open_connections(self) -> int:
        return sum(connection.is_open for connection in self.connections)

    def accept(self) -> asyncio.Protocol:
        """Return the protocol for a client that connects."""
        connection = LinkConnection(self._ended)
        self.connections.add(connection)
        self.newest = connection
        self.fault(self, connection)
        dialling = asyncio.ensure_future(connection.connect(self._dial))
        self._dialling.add(dialling)
        dialling.add_done_callback(self._dialling.discard)
        return connection.client_side()

    def inject(self, fault: LinkFault) -> None:
        """Let a fault change open and new connections until `heal`."""
        self.fault = fault
        for connection in self.connections:
            self.fault(self, connection)

    def _ended(self, connection: LinkConnection) -> None:
        self.connections.discard(connection)
        if connection is self.newest:
            self.newest = None

    def cut(self) -> None:
        """Reset every connection; clients may connect again."""
        for connection in list(self.connections):
            connection.cut()

    def go_half_open(self) -> None:
        """Drop all data of the open connections; new connections work."""
        for connection in self.connections:
            connection.is_half_open = True

    def cut_half_open(self) -> None:
        """Reset the half-open connections, so that the server notices their end."""
        for connection in list(self.connections):
            if connection.is_half_open:
                connection.cut()

    def stall(self) -> None:
        """Stop reading from the server on every connection."""
        for connection in self.connections:
            connection.stall()

    def resume(self) -> None:
        """Read again on every connection that was stalled."""
        for connection in self.connections:
            connection.resume()

    def heal(self) -> None:
        """Forward everything from now on, also on open connections."""
        self.fault = no_fault
        for connection in self.connections:
            connection.to_server = connection.to_client = unchanged
            connection.resume()

    def lose_answer(self, connection: LinkConnection) -> bytes:
        """Drop an answer and cut its connection; return no bytes to forward."""
        self.answers_lost += 1
        self.has_lost_answer.set()
        return connection.lose()

    async def close(self) -> None:
        for dialling in list(self._dialling):
            dialling.cancel()
        await asyncio.gather(*self._dialling, return_exceptions=True)
        self.cut()


def to_ports(ports: Sequence[int]) -> Dial:
    """Return a `Dial` that connects to these local TCP ports in turn, and skips closed ones.

    The sequence may change while the link is open.
    """
    turn = 0

    async def dial(side: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
        nonlocal turn
        for _ in range(len(ports)):
            turn += 1
            try:
                async with asyncio.timeout(CONNECT_WITHIN):
                    transport, _ = await asyncio.get_running_loop().create_connection(
                        side, "127.0.0.1", ports[turn % len(ports)]
                    )
            except OSError:
                # a timeout is one too
                continue
            return transport
        raise ConnectionRefusedError("no server accepts connections")

    return dial


def to_address(host: str, port: int) -> Dial:
    """Return a `Dial` that connects to an address."""

    async def dial(side: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
        transport, _ = await asyncio.get_running_loop().create_connection(side, host, port)
        return transport

    return dial


def to_socket(socket: Path) -> Dial:
    """Return a `Dial` that connects to a Unix socket."""

    async def dial(side: Callable[[], asyncio.Protocol]) -> asyncio.Transport:
        transport, _ = await asyncio.get_running_loop().create_unix_connection(side, str(socket))
        return transport

    return dial


@asynccontextmanager
async def listening(link: FaultyLink, socket: Path | None = None) -> AsyncIterator[None]:
    """Let the link listen at a Unix socket, or at a TCP port of this machine, until the end of the block."""
    loop = asyncio.get_running_loop()
    if socket is None:
        server = await loop.create_server(link.accept, "127.0.0.1", 0)
        link.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    else:
        server = await loop.create_unix_server(link.accept, socket)
        link.url = f"unix://{socket}"
    try:
        yield
    finally:
        server.close()
        await link.close()
        await server.wait_closed()


@asynccontextmanager
async def link_to_ports(*ports: int, fault: LinkFault = no_fault) -> AsyncIterator[FaultyLink]:
    """Open a link that connects to these TCP ports of this machine in turn."""
    link = FaultyLink(to_ports(ports), fault)
    async with listening(link):
        yield link


@asynccontextmanager
async def link_to_store(
    store: Path, socket: Path, fault: LinkFault = no_fault
) -> AsyncIterator[FaultyLink]:
    """Open a link that listens at a Unix socket and connects to the store's Unix socket."""
    link = FaultyLink(to_socket(store), fault)
    async with listening(link, socket):
        yield link


# Lost answers of the store


def lose_answers_to(is_lost: Callable[[bytes], bool]) -> LinkFault:
    """Return a fault that cuts the connection when the answer to a selected request arrives."""

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        loses = False

        def to_server(data: bytes) -> bytes:
            nonlocal loses
            loses = loses or is_lost(data)
            return data

        connection.to_server = to_server
        connection.to_client = lambda data: link.lose_answer(connection) if loses else data

    return fault


def lose_first_answers() -> LinkFault:
    """Return a fault that loses the answer to each Function call, except to a repeated call."""
    seen: set[bytes] = set()

    def is_lost(data: bytes) -> bool:
        if b"FCALL" not in data or data in seen:
            return False
        seen.add(data)
        return True

    return lose_answers_to(is_lost)


def lose_next_answer(function: str) -> LinkFault:
    """Return a fault that loses the answer to the next call of one Function."""
    awaited = [function.encode()]

    def is_lost(data: bytes) -> bool:
        if awaited and awaited[0] in data:
            awaited.clear()
            return True
        return False

    return lose_answers_to(is_lost)
