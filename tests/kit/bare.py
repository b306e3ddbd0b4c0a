"""What a house answers to bytes, over bare TCP."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from saratoga_protocol.version import MSGPACK

BOUND: Final = 20.0
"""Seconds: a bound for what is awaited, never a measure."""

HANDSHAKE: Final = (
    "Host: house",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Version: 13",
)


@dataclass(frozen=True, slots=True)
class BareAnswer:
    """Everything that came back until the house hung up."""

    raw: bytes
    headers: dict[str, str] = field(init=False)
    """By name in small letters."""

    def __post_init__(self) -> None:
        lines = self.raw.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(": ") for line in lines)
        object.__setattr__(self, "headers", {name.lower(): value for name, _, value in pairs})

    @property
    def status(self) -> int:
        """0: none."""
        return int(self.raw[9:12]) if self.raw.startswith(b"HTTP/1.1 ") else 0

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2]

    @property
    def answers(self) -> int:
        """How many answers of HTTP there are in it."""
        return self.raw.count(b"HTTP/1.1 ")


async def said(port: int, opening: bytes, then: bytes = b"") -> BareAnswer:
    """Send an opening, and once it is answered the rest; read until the house has hung up."""
    async with asyncio.timeout(BOUND):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(opening)
            raw = b""
            with suppress(ConnectionError):
                # who hangs up before the answer may get none
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
    return BareAnswer(raw)


def request(first: str, *headers: str) -> bytes:
    """A request as it goes over the line."""
    return "\r\n".join((first, *headers, "", "")).encode("latin-1")


def handshake(*more: str, without: Sequence[str] = (), subprotocol: str | None = MSGPACK) -> bytes:
    """A WebSocket's handshake with more headers, or without some (named by how they begin)."""
    kept = [line for line in HANDSHAKE if not line.startswith(tuple(without) or ("\0",))]
    if subprotocol is not None:
        kept.append(f"Sec-WebSocket-Protocol: {subprotocol}")
    return request("GET / HTTP/1.1", *kept, *more)


def masked(payload: bytes, first: int = 0x82) -> bytes:
    """A short frame from a player; `first` is its first byte: bits and kind."""
    assert len(payload) < 126
    return bytes([first, 0x80 | len(payload)]) + b"\0\0\0\0" + payload
