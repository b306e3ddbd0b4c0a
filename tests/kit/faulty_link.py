"""A proxy for TCP and Unix connections with faults that a test switches on.

A link can cut its connections, drop all data while they stay open, stop reading from the server,
lose an answer, or change what a client sends. Players connect through a link to the server, and the
server connects through a link to its store.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from itertools import cycle, islice
from math import inf
from pathlib import Path

CONNECT_WITHIN = 1.0
"""Longest time in seconds to connect to a server on this machine."""

Transform = Callable[[bytes], bytes]
"""A function that receives bytes and returns the bytes to forward in their place."""

Dial = Callable[[], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""A function that connects to the server behind the link. Raises `OSError` if none accepts."""


def unchanged(data: bytes) -> bytes:
    return data


class LinkConnection:
    """A connection through a link: from the client to the link, and from the link to the server."""

    def __init__(self, client: asyncio.StreamWriter) -> None:
        self.client = client
        self.server: asyncio.StreamWriter | None = None
        """`None` until the link has connected to the server."""
        self.to_server: Transform = unchanged
        self.to_client: Transform = unchanged
        self.is_half_open = False
        """If true, drop all data, and hide from each side that the other has closed."""
        self.flows = asyncio.Event()
        """While not set, read nothing from the server."""
        self.flows.set()
        self.late_until = 0.0
        """The event loop's time until which data comes to the client, before the server's end."""

    @property
    def server_port(self) -> int:
        """The TCP port that the connection leads to, 0 if it is not connected to the server."""
        port: int = self.server.get_extra_info("peername")[1] if self.server else 0
        return port

    @property
    def ends(self) -> frozenset[str]:
        """The addresses of the client and of the link, without their ports."""
        names = ("peername", "sockname")
        return frozenset(self.client.get_extra_info(name)[0] for name in names)

    async def carry(self, from_client: asyncio.StreamReader, dial: Dial) -> None:
        """Forward bytes in both directions until a side closes, or both if it is half-open then."""
        sides: list[asyncio.Task[None]] = []
        try:
            from_server, self.server = await dial()
            ways = (self._to_server(from_client, self.server), self._to_client(from_server))
            sides = [asyncio.create_task(way) for way in ways]
            await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
            if self.is_half_open:
                await asyncio.wait(sides)
            await asyncio.sleep(self.late_until - asyncio.get_running_loop().time())
        except OSError:
            pass  # no server accepts
        finally:
            self.cut()
            await asyncio.gather(*sides)

    async def _to_server(self, reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if not self.is_half_open:
                    server.write(self.to_server(data))

    async def _to_client(self, reader: asyncio.StreamReader) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self.flows.wait()
                if not self.is_half_open:
                    self.client.write(self.to_client(data))

    def cut(self) -> None:
        """Reset the connections to both sides."""
        self.flows.set()
        self.client.transport.abort()
        if self.server is not None:
            self.server.transport.abort()


LinkFault = Callable[["FaultyLink", LinkConnection], None]
"""A function that sets the transforms of a new connection before any data passes."""


def no_fault(link: "FaultyLink", connection: LinkConnection) -> None:
    """Forward everything unchanged."""
    connection.to_server = connection.to_client = unchanged


class FaultyLink:
    """A proxy at `url` that forwards each connection to the server that `dial` connects to."""

    def __init__(self, dial: Dial, fault: LinkFault = no_fault) -> None:
        self.url = ""
        self.fault = fault
        """The fault of connections that are opened later."""
        self.connections: dict[LinkConnection, asyncio.Task[None] | None] = {}
        """The open connections, the newest last, with the tasks that carry their bytes."""
        self.answers_lost = 0
        self.has_lost_answer = asyncio.Event()
        self._dial = dial

    @property
    def server_port(self) -> int:
        """The TCP port that the newest connection leads to, 0 if there is none."""
        ports = [each.server_port for each in self.connections if not each.is_half_open]
        return ports[-1] if ports else 0

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Forward the bytes of a client that has connected, until the connection ends."""
        connection = LinkConnection(writer)
        self.connections[connection] = asyncio.current_task()
        self.fault(self, connection)
        try:
            await connection.carry(reader, self._dial)
        finally:
            del self.connections[connection]

    def inject(self, fault: LinkFault) -> None:
        """Let a fault change open and new connections until `heal`."""
        self.fault = fault
        for connection in self.connections:
            self.fault(self, connection)

    def cut(self) -> None:
        """Reset every connection; clients may connect again."""
        for connection in self.connections:
            connection.cut()

    def go_half_open(self) -> None:
        """Drop all data of the open connections; new connections work."""
        for connection in self.connections:
            connection.is_half_open = True

    def cut_half_open(self) -> None:
        """Reset the half-open connections, so that the server notices their end."""
        for connection in self.connections:
            if connection.is_half_open:
                connection.cut()

    def stall(self) -> None:
        """Stop reading from the server on every connection."""
        for connection in self.connections:
            connection.flows.clear()

    def heal(self) -> None:
        """Read and forward everything from now on, also on open connections."""
        self.inject(no_fault)
        for connection in self.connections:
            connection.flows.set()

    def lose_answer(self, connection: LinkConnection) -> bytes:
        """Drop an answer and cut its connection; return no bytes to forward."""
        self.answers_lost += 1
        self.has_lost_answer.set()
        connection.cut()
        return b""

    async def close(self) -> None:
        tasks = [task for task in self.connections.values() if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def to_ports(*ports: int) -> Dial:
    """Return a `Dial` that connects to these local TCP ports in turn, and skips closed ones."""
    turn = cycle(ports)

    async def dial() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for port in islice(turn, len(ports)):
            with suppress(OSError):  # a timeout is one too
                async with asyncio.timeout(CONNECT_WITHIN):
                    return await asyncio.open_connection("127.0.0.1", port)
        raise ConnectionRefusedError("no server accepts connections")

    return dial


def to_socket(socket: Path) -> Dial:
    """Return a `Dial` that connects to a Unix socket."""
    return partial(asyncio.open_unix_connection, socket)


@asynccontextmanager
async def open_link(
    dial: Dial, fault: LinkFault = no_fault, *, socket: Path | None = None
) -> AsyncIterator[FaultyLink]:
    """Open a link at a Unix socket, or at a TCP port of this machine."""
    link = FaultyLink(dial, fault)
    if socket is None:
        server = await asyncio.start_server(link.accept, "127.0.0.1")
        link.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    else:
        server = await asyncio.start_unix_server(link.accept, socket)
        link.url = f"unix://{socket}"
    try:
        yield link
    finally:
        server.close()
        await link.close()
        await server.wait_closed()


def lose_answers(request: str = "FCALL", most: float = inf) -> LinkFault:
    """Return a fault that loses the answers to the first `most` different requests with that text.

    When such an answer arrives from the store, its connection is cut.
    """
    seen: set[bytes] = set()

    def fault(link: FaultyLink, connection: LinkConnection) -> None:
        loses = False

        def to_server(data: bytes) -> bytes:
            nonlocal loses
            if request.encode() in data and data not in seen and len(seen) < most:
                seen.add(data)
                loses = True
            return data

        connection.to_server = to_server
        connection.to_client = lambda data: link.lose_answer(connection) if loses else data

    return fault
