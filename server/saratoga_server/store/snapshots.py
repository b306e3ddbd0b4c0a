"""A snapshot of a running store, as a replica would be sent it: no file of the store is touched.

The store forks, and sends what it held at that moment; it goes on meanwhile. Everything that was
acknowledged before it was asked is in it.
"""

import asyncio
import hashlib
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from msgspec import Struct

from saratoga_server.ports import StoreRefused, StoreUnavailable

SILENT_FOR: Final = 120.0
"""Seconds without a byte after which the store is given up; while it forks it sends empty lines."""

DEFAULT_PORT: Final = 6379
_CHUNK: Final = 1 << 20
_MARK: Final = 40
"""Bytes of the mark that ends a snapshot whose size was not known before."""


class Snapshot(Struct, frozen=True):
    """A snapshot that was written to a file."""

    size: int
    """Bytes."""
    sha256: str


async def fetch_snapshot(url: str, path: Path) -> Snapshot:
    """Write a snapshot of the store at that address to a file, and to the disk.

    Raises `StoreRefused` if the store will not send one, `StoreUnavailable` if it goes silent.
    """
    try:
        reader, writer = await _opened(url)
        try:
            return await _fetched(url, reader, writer, path)
        finally:
            writer.transport.abort()
            # its socket is closed a turn of the loop later
            await asyncio.sleep(0)
    except (TimeoutError, EOFError, ConnectionError, FileNotFoundError) as error:
        raise StoreUnavailable(f"the store ended before its snapshot did: {error}") from error


async def _opened(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    async with asyncio.timeout(SILENT_FOR):
        if parts.scheme == "unix":
            return await asyncio.open_unix_connection(unquote(parts.path), limit=_CHUNK)
        return await asyncio.open_connection(
            parts.hostname or "localhost",
            parts.port or DEFAULT_PORT,
            ssl=_tls(parts.query) if parts.scheme == "rediss" else None,
            limit=_CHUNK,
        )


def _tls(query: str) -> ssl.SSLContext:
    """As redis-py takes it from an address: an authority, and a certificate of our own."""
    named = {name: values[-1] for name, values in parse_qs(query).items()}
    context = ssl.create_default_context(cafile=named.get("ssl_ca_certs"))
    if "ssl_certfile" in named:
        context.load_cert_chain(named["ssl_certfile"], named.get("ssl_keyfile"))
    return context


async def _fetched(
    url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: Path
) -> Snapshot:
    parts = urlsplit(url)
    if parts.password:
        user = (unquote(parts.username),) if parts.username else ()
        await _told(reader, writer, "AUTH", *user, unquote(parts.password))
    await _told(reader, writer, "REPLCONF", "capa", "eof")
    # what is only fetched is no replica: nothing may count on it
    await _told(reader, writer, "REPLCONF", "rdb-only", "1")
    writer.write(_packed("SYNC"))
    head = await _line(reader)
    if not head.startswith(b"$"):
        raise StoreRefused(f"The store sends no snapshot: {head.decode(errors='replace')}.")
    with path.open("wb") as file:
        sink = _Sink(file.write)
        if head.startswith(b"$EOF:"):
            await _until(head.removeprefix(b"$EOF:"), reader, sink)
        else:
            await _so_many(int(head[1:]), reader, sink)
        file.flush()
        await asyncio.to_thread(os.fsync, file.fileno())
    return Snapshot(sink.size, sink.digest.hexdigest())


class _Sink:
    """Writes, counts and digests."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self.size = 0
        self.digest = hashlib.sha256()

    def take(self, piece: bytes) -> None:
        self._write(piece)
        self.size += len(piece)
        self.digest.update(piece)


async def _so_many(size: int, reader: asyncio.StreamReader, sink: _Sink) -> None:
    while sink.size < size:
        sink.take(await _some(reader, min(_CHUNK, size - sink.size)))


async def _until(mark: bytes, reader: asyncio.StreamReader, sink: _Sink) -> None:
    held = b""
    while not held.endswith(mark):
        sink.take(held[:-_MARK])
        held = held[-_MARK:] + await _some(reader, _CHUNK)
    sink.take(held[:-_MARK])


async def _told(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *words: str) -> None:
    writer.write(_packed(*words))
    answer = await _line(reader)
    if answer.startswith(b"-"):
        raise StoreRefused(f"The store sends no snapshot: {answer[1:].decode(errors='replace')}.")


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line that says something."""
    while True:
        async with asyncio.timeout(SILENT_FOR):
            line = await reader.readuntil(b"\n")
        if line.strip():
            return line.strip()


async def _some(reader: asyncio.StreamReader, most: int) -> bytes:
    async with asyncio.timeout(SILENT_FOR):
        piece = await reader.read(most)
    if not piece:
        raise EOFError("the connection is closed")
    return piece


def _packed(*words: str) -> bytes:
    encoded = [word.encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in encoded)
