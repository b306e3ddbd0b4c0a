"""Hostile bytes over bare TCP: broken handshakes, other protocols, broken WebSocket frames."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Final

from kit.hostile_client import BOUND, DOCUMENTED_CLOSES
from kit.mutations import TRACE, Spoiler
from kit.raw_client import HEADERS, REQUEST_LINE, close_code, split_frames
from saratoga_protocol.codec import SUBPROTOCOLS

STATUSES: Final = frozenset({101, 200, 400, 403, 404, 405, 414, 421, 426, 429, 431, 501, 503, 505})
"""HTTP statuses that the server may answer with; 500 would be an error of its own."""

LINES: Final = (
    *("GET /healthz HTTP/1.1", "POST / HTTP/1.1", "CONNECT x:1 HTTP/1.1", "GET http://x/ HTTP/1.1"),
    *("OPTIONS * HTTP/1.1", "GET / HTTP/1.0", "GET / HTTP/2.0", "PRI * HTTP/2.0", "get / http/1.1"),
    *("GET /api/leaderboards/canfield?limit=%00&x=1 HTTP/1.1", "GET /%2e%2e/etc/passwd HTTP/1.1"),
    *("GET //evil.example/ HTTP/1.1", "GET /api/records/a/1/../2 HTTP/1.1", "GET /\u00e9 HTTP/1.1"),
    *("GET /" + "a" * 9000 + " HTTP/1.1", "GET  / HTTP/1.1", "GET /", "", "\x16\x03\x01\x02\x00"),
)

HOSTILE_HEADERS: Final = (
    *(
        "Host: other",
        "Origin: null",
        "Origin: https://evil.example",
        "Cookie: a=b",
        "X" * 9000 + ": y",
    ),
    *("Sec-WebSocket-Extensions: permessage-deflate", "Sec-WebSocket-Extensions: x;;;=", "x: \x00"),
    *(
        "Sec-WebSocket-Protocol: chat",
        "Sec-WebSocket-Protocol: saratoga.v1.json, saratoga.v1.msgpack",
    ),
    *(
        "Content-Length: 5",
        "Content-Length: -1",
        "Content-Length: 99999999999",
        "Expect: 100-continue",
    ),
    *(
        "Transfer-Encoding: chunked",
        "Upgrade: h2c",
        "Sec-WebSocket-Version: 12",
        "X-Forwarded-For: ,,",
    ),
    *(
        "Connection: close",
        "Sec-WebSocket-Key: x",
        " folded",
        "no colon",
        ": empty",
        "a: b\rc: d",
        "a" * 70,
    ),
)


class HostileBytes:
    """A hostile client that opens one TCP connection after another and checks the responses."""

    def __init__(self, port: int, random: Random) -> None:
        self._port = port
        self._random = random

    async def connect(self) -> None:
        """Connect, send a damaged handshake and damaged frames, and check the response."""
        random = self._random
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            opening = self._opening()
            head = b""
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                writer.write(opening)
                if opening.endswith(b"\r\n\r\n"):
                    async with asyncio.timeout(BOUND):
                        head = await reader.readuntil(b"\r\n\r\n")
                    if head.startswith(b"HTTP/1.1 101"):
                        await self._frames(writer)
                # Closing the sending side is optional for a client.
                if random.random() < 0.9:
                    writer.write_eof()
                else:
                    writer.transport.abort()
            rest = b""
            with suppress(ConnectionError):
                async with asyncio.timeout(BOUND):
                    rest = await reader.read(-1)
            self._check(opening, head + rest)
        finally:
            writer.close()

    def _opening(self) -> bytes:
        """Return a handshake, damaged or not, or random bytes."""
        random = self._random
        if random.random() < 0.1:
            return random.randbytes(random.randrange(200))
        lines = [REQUEST_LINE, *HEADERS, f"Sec-WebSocket-Protocol: {random.choice(SUBPROTOCOLS)}"]
        for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
            random.choice(SPOILING)(self, lines)
        opening = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", errors="replace")
        if random.random() < 0.15:
            opening = opening[: random.randrange(len(opening))]
        return opening

    def replace_request_line(self, lines: list[str]) -> None:
        lines[0] = self._random.choice(LINES)

    def insert_header(self, lines: list[str]) -> None:
        lines.insert(
            self._random.randrange(1, len(lines) + 1), self._random.choice(HOSTILE_HEADERS)
        )

    def remove_header(self, lines: list[str]) -> None:
        if len(lines) > 1:
            del lines[self._random.randrange(1, len(lines))]

    def repeat_header(self, lines: list[str]) -> None:
        lines.append(self._random.choice(lines))

    def add_many_headers(self, lines: list[str]) -> None:
        lines.extend(f"X-{number}: y" for number in range(self._random.choice((100, 130, 300))))

    async def _frames(self, writer: asyncio.StreamWriter) -> None:
        """Send WebSocket frames built by hand: masked or not, with random header bits."""
        spoiler = Spoiler(self._random, self._random.choice(SUBPROTOCOLS))
        for _ in range(self._random.choice((1, 3, 12))):
            payload = spoiler.frame()
            writer.write(self._frame(payload.encode() if isinstance(payload, str) else payload))
            await writer.drain()

    def _frame(self, payload: bytes) -> bytes:
        random = self._random
        is_wild = random.random() < 0.5
        first = random.randrange(256) if is_wild else random.choice((0x81, 0x82))
        mask = 0x80 if not is_wild or random.random() < 0.9 else 0
        length = len(payload)
        if is_wild and random.random() < 0.2:
            length = random.choice((0, 1, 125, 126, 65_535, 2**31, 2**63 - 1, 2**64 - 1))
        if length < 126:
            size = bytes([mask | length])
        elif length < 65_536:
            size = bytes([mask | 126]) + length.to_bytes(2)
        else:
            size = bytes([mask | 127]) + length.to_bytes(8)
        return bytes([first]) + size + (b"\0\0\0\0" if mask else b"") + payload

    def _check(self, opening: bytes, answer: bytes) -> None:
        """Check that the server's response to this opening is allowed."""
        if not answer:
            return
        said = re.match(rb"HTTP/1\.1 ([0-9]{3}) ", answer)
        assert said is not None, answer[:200]
        status = int(said[1])
        assert status in STATUSES, (opening[:600], answer[:300])
        assert not TRACE.search(answer.decode("latin-1")), answer[:600]
        if status == 101:
            head, _, frames = answer.partition(b"\r\n\r\n")
            assert b"sec-websocket-extensions" not in head.lower(), head
            sent, _ = split_frames(frames)
            assert not any(each.is_masked for each in sent), "a server masks no frame"
            assert close_code(sent) in DOCUMENTED_CLOSES | {0}, sent


SPOILING: Final[tuple[Callable[[HostileBytes, list[str]], None], ...]] = (
    *(HostileBytes.insert_header, HostileBytes.insert_header, HostileBytes.remove_header),
    *(HostileBytes.replace_request_line, HostileBytes.repeat_header, HostileBytes.add_many_headers),
)
