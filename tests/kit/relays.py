"""Connections passed on byte by byte, and what may befall them on the way.

A relay may be cut, may swallow everything without a word (half-open), may stop reading what comes
back, and may hand what goes forth to somebody who changes it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

Change = Callable[[bytes], bytes]
"""What is passed on instead of the bytes that came."""

Dial = Callable[[Callable[[], "End"]], Awaitable[asyncio.Transport]]
"""Connects to where the relay leads; `OSError` if nobody is there."""


def unchanged(data: bytes) -> bytes:
    return data


class End(asyncio.Protocol):
    """One of the two ends of a relay."""

    def __init__(self, on_data: Callable[[bytes], None], on_lost: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_lost = on_lost

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._on_lost()


class Relay:
    """One connection, from who called (near) to who was dialled (far)."""

    def __init__(self, on_end: Callable[["Relay"], None] = lambda relay: None) -> None:
        self.forth: Change = unchanged
        self.back: Change = unchanged
        self.swallows = False
        """Half-open: nothing gets through, an end of either side neither."""
        self._on_end = on_end
        self._near: asyncio.Transport | None = None
        self._far: asyncio.Transport | None = None
        self._early: list[bytes] = []
        self._stalls = False
        self._is_over = False

    @property
    def is_open(self) -> bool:
        return self._far is not None

    async def connect(self, dial: Dial) -> None:
        """Dial the far end; if nobody is there, the near one is hung up on."""
        try:
            far = await dial(lambda: End(self._from_far, self._far_lost))
        except OSError:
            self.cut()
            return
        if self._is_over:
            far.abort()
            return
        self._far = far
        if self._stalls:
            far.pause_reading()
        early, self._early = self._early, []
        for data in early:
            self._from_near(data)

    def near_end(self) -> asyncio.Protocol:
        """The protocol of the connection that came in."""
        return _NearEnd(self)

    def took(self, near: asyncio.Transport) -> None:
        if self._is_over:
            # nobody was there to be dialled, and that was known first
            near.abort()
        else:
            self._near = near

    def send_forth(self, data: bytes) -> None:
        """Say something to the far end, whoever thought of it."""
        if self._far is not None:
            self._far.write(data)

    def stall(self) -> None:
        """Read no more of what comes back."""
        self._stalls = True
        if self._far is not None:
            self._far.pause_reading()

    def go_on(self) -> None:
        """Read again."""
        if self._stalls and self._far is not None:
            self._far.resume_reading()
        self._stalls = False

    def cut(self) -> None:
        """Break off, to both sides at once."""
        near, far = self._near, self._far
        self._near = self._far = None
        for end in (near, far):
            if end is not None:
                end.abort()
        if not self._is_over:
            self._is_over = True
            self._on_end(self)

    def _from_near(self, data: bytes) -> None:
        if self.swallows:
            return
        if self._far is None:
            self._early.append(data)
        elif changed := self.forth(data):
            self._far.write(changed)

    def _from_far(self, data: bytes) -> None:
        if not self.swallows and self._near is not None and (changed := self.back(data)):
            self._near.write(changed)

    def near_lost(self) -> None:
        self._near = None
        if not self.swallows or self._far is None:
            self.cut()

    def _far_lost(self) -> None:
        self._far = None
        if not self.swallows or self._near is None:
            self.cut()


class _NearEnd(End):
    def __init__(self, relay: Relay) -> None:
        super().__init__(relay._from_near, relay.near_lost)
        self._relay = relay

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._relay.took(cast("asyncio.Transport", transport))


class Exchange:
    """Where connections come in, each to be passed on by a relay of its own."""

    def __init__(
        self,
        dial: Dial,
        on_call: Callable[[Relay], None] = lambda relay: None,
        on_end: Callable[[Relay], None] = lambda relay: None,
    ) -> None:
        """`on_call` is told of every relay before it carries anything, `on_end` when it is over."""
        self.relays: set[Relay] = set()
        self._dial = dial
        self._on_call = on_call
        self._on_end = on_end
        self._calls: set[asyncio.Task[None]] = set()

    def accept(self) -> asyncio.Protocol:
        """The protocol of a connection that comes in."""
        relay = Relay(self._ended)
        self.relays.add(relay)
        self._on_call(relay)
        call = asyncio.ensure_future(relay.connect(self._dial))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return relay.near_end()

    def _ended(self, relay: Relay) -> None:
        self.relays.discard(relay)
        self._on_end(relay)

    async def close(self) -> None:
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        for relay in list(self.relays):
            relay.cut()


@asynccontextmanager
async def _serving(server: asyncio.Server, exchange: Exchange) -> AsyncIterator[None]:
    try:
        yield
    finally:
        server.close()
        await exchange.close()
        await server.wait_closed()


@asynccontextmanager
async def open_exchange(exchange: Exchange) -> AsyncIterator[int]:
    """It may be called while entered, at a port of this machine."""
    server = await asyncio.get_running_loop().create_server(exchange.accept, "127.0.0.1", 0)
    async with _serving(server, exchange):
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def open_unix_exchange(exchange: Exchange, socket: Path) -> AsyncIterator[None]:
    """It may be called while entered, at that socket."""
    server = await asyncio.get_running_loop().create_unix_server(exchange.accept, socket)
    async with _serving(server, exchange):
        yield


def to_port(port: int) -> Dial:
    """Leads to a port of this machine."""

    async def dial(end: Callable[[], End]) -> asyncio.Transport:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_connection(end, "127.0.0.1", port)
        return transport

    return dial


def to_socket(socket: Path) -> Dial:
    """Leads to a Unix socket."""

    async def dial(end: Callable[[], End]) -> asyncio.Transport:
        transport, _ = await asyncio.get_running_loop().create_unix_connection(end, str(socket))
        return transport

    return dial
