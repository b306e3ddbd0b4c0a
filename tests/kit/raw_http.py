"""Send bytes to a server over TCP, and read its HTTP responses."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from saratoga_protocol.version import MSGPACK

BOUND: Final = 20.0
"""Seconds for anything awaited: a bound that no test should reach."""

HANDSHAKE: Final = (
    "Host: server",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version: 13",
)


@dataclass(frozen=True, slots=True)
class RawResponse:
    """All bytes that the server sent until it closed the connection."""

    raw: bytes
    headers: dict[str, str] = field(init=False)
    """Headers by lower-case name."""

    def __post_init__(self) -> None:
        lines = self.raw.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(": ") for line in lines)
        object.__setattr__(self, "headers", {name.lower(): value for name, _, value in pairs})

    @property
    def status(self) -> int:
        """The status of the first HTTP response, 0 if there is none."""
        return int(self.raw[9:12]) if self.raw.startswith(b"HTTP/1.1 ") else 0

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def answers(self) -> int:
        """The number of HTTP responses."""
        return self.raw.count(b"HTTP/1.1 ")


async def exchange(port: int, opening: bytes, then: bytes = b"") -> RawResponse:
    """Send an opening, and `then` after a response; read until the server closes the connection."""
    async with asyncio.timeout(BOUND):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(opening)
            raw = b""
            with suppress(ConnectionError):
                # A client that closes first may get no response.
                try:
                    raw = await reader.readuntil(b"\r\n\r\n")
                except asyncio.IncompleteReadError as ended:
                    raw = ended.partial
                if not reader.at_eof():
                    writer.write(then)
                    writer.write_eof()
                    raw += await reader.read(-1)
        finally:
            writer.close()
    return RawResponse(raw)


def request(first: str, *headers: str) -> bytes:
    """Encode an HTTP request with these headers."""
    return "\r\n".join((first, *headers, "", "")).encode("latin-1")


def handshake(*more: str, without: Sequence[str] = (), subprotocol: str | None = MSGPACK) -> bytes:
    """Encode a WebSocket handshake with more headers, and without those named in `without`."""
    kept = [line for line in HANDSHAKE if not line.startswith(tuple(without) or ("\0",))]
    if subprotocol is not None:
        kept.append(f"Sec-WebSocket-Protocol: {subprotocol}")
    return request("GET / HTTP/1.1", *kept, *more)


def masked(payload: bytes, first: int = 0x82) -> bytes:
    """Encode a short masked frame; `first` is its first byte: flags and opcode."""
    assert len(payload) < 126
    return bytes([first, 0x80 | len(payload)]) + b"\0\0\0\0" + payload
