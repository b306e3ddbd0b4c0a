"""A WebSocket client that uses little processor time, so that benchmarks do not measure their clients.

It masks with zeros, which leaves the payload unchanged, and supports neither fragments nor
compression. It suits only our own servers on this machine.
"""

import asyncio
import struct
from collections.abc import Callable
from typing import cast

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Protocol: saratoga.v1.msgpack\r\n\r\n"
)
NO_MASK = b"\0\0\0\0"
BINARY, CLOSE, PING = 2, 8, 9


class LeanSocket(asyncio.Protocol):
    """A client connection that passes every binary message to `on_message`."""

    def __init__(self) -> None:
        self.on_message: Callable[[bytes], None] = lambda message: None
        self.on_lost: Callable[[], None] = lambda: None
        """Called when the connection has ended."""
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.received = 0
        """The number of bytes received."""
        self._transport: asyncio.Transport | None = None
        self._waiting = b""
        self._open = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(HANDSHAKE)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("closed in the handshake"))
        self.on_lost()

    def send(self, payload: bytes) -> None:
        size = len(payload)
        head = (
            bytes((0x80 | BINARY, 0x80 | size))
            if size < 126
            else struct.pack("!BBH", 0x80 | BINARY, 0x80 | 126, size)
        )
        assert self._transport is not None
        self._transport.write(head + NO_MASK + payload)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        data = self._waiting + data if self._waiting else data
        if not self._open:
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._waiting = head
                return
            if not head.startswith(b"HTTP/1.1 101"):
                self.opened.set_exception(ConnectionError(head.decode(errors="replace")))
                return
            self._open = True
            if not self.opened.done():
                self.opened.set_result(None)
        self._waiting = self._read_frames(data)

    def _read_frames(self, data: bytes) -> bytes:
        """Deliver every complete frame; return the remaining bytes."""
        start, end = 0, len(data)
        while end - start >= 2:
            kind, size, payload = data[start] & 15, data[start + 1], start + 2
            if size == 126:
                if end - start < 4:
                    break
                (size,) = struct.unpack_from("!H", data, start + 2)
                payload = start + 4
            if end - payload < size:
                break
            start = payload + size
            if kind == BINARY:
                self.on_message(data[payload:start])
            elif kind == PING and self._transport is not None:
                body = data[payload:start]
                self._transport.write(bytes((0x8A, 0x80 | len(body))) + NO_MASK + body)
        return data[start:]


async def connect(host: str, port: int) -> LeanSocket:
    """Open a connection. Raise `ConnectionError` if the server refuses."""
    loop = asyncio.get_running_loop()
    _, socket = await loop.create_connection(LeanSocket, host, port)
    await socket.opened
    return socket
