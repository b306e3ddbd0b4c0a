"""Sockets for tests of misbehaving clients: nothing happens unless the test does it.

Data is read only when the test reads, no ping is answered, and a frame may stop anywhere.
"""

import asyncio
import select
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from kit.players import RECEIVED_WITHIN

HEAD = (
    "GET / HTTP/1.1\r\nHost: server\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Protocol: saratoga.v1.msgpack\r\n"
)
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
SMALL_WINDOW = 4096
"""The size in bytes of the receive buffer of a connection that does not read."""


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


LOOK_EVERY = 0.02
"""Seconds between two polls."""

KEEPALIVE = {"TCP_KEEPIDLE": 1, "TCP_KEEPINTVL": 1}
"""Seconds between the kernel's probes: a reset that finds the receive buffer full is lost without them."""


class RawSocket:
    """A client's socket whose blocking calls run in threads."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def say(self, data: bytes) -> None:
        """Send all bytes. Raises `OSError` if the connection has ended."""
        await asyncio.to_thread(self._connection.sendall, data)

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
        await self.say((HEAD + "".join(f"{line}\r\n" for line in headers) + "\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n") and (piece := await self.read(1)):
            head += piece
        return head

    async def dropped(self, within: float = RECEIVED_WITHIN) -> bool:
        """Wait without reading until the server drops the connection; return False if it does not."""
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
