"""Lines as they are typed, or as a pipe brings them, without holding up anything else.

A thread of its own waits for the standard input: no event loop can wait for a Windows console or
for a file. It reads past Python's buffers, whose locks a thread that waits for ever would still
hold when the program ends.
"""

import asyncio
import io
import sys
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Callable
from select import select
from threading import Semaphore, Thread
from typing import Final, Protocol

CHUNK: Final = 65536
"""Bytes asked for at once."""

LONGEST: Final = 500
"""Characters of a line that are read; no order is half as long."""

AHEAD: Final = 64
"""Lines read before they are asked for; a long script waits in its pipe."""


class Source(Protocol):
    """Where bytes come from; `b""` is the end."""

    def read(self, size: int, /) -> bytes: ...


class StandardInput:
    """The standard input below Python's buffers."""

    def __init__(self) -> None:
        buffer = sys.stdin.buffer
        # the console of Windows is read in UTF-8 there too
        self._raw = buffer.raw if isinstance(buffer, io.BufferedReader) else buffer

    def read(self, size: int, /) -> bytes:
        """Some bytes, however long that takes."""
        while (chunk := self._raw.read(size)) is None:
            # somebody has made it a pipe that does not wait
            select([self._raw], [], [])
        return chunk


class LineReader:
    """The lines of a source, one by one."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._room = Semaphore(AHEAD)
        self._loop = asyncio.get_running_loop()
        self._ended = False
        Thread(target=self._read, name="lines typed", daemon=True).start()

    async def next(self) -> str | None:
        """The next line without its end; `None` when there are no more, and ever after."""
        if self._ended:
            return None
        line = await self._lines.get()
        self._room.release()
        self._ended = line is None
        return line

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self.next()) is not None:
            yield line

    def _read(self) -> None:
        """In the thread: read until the end, or until nobody listens any more."""
        splitter = LineSplitter(self._hand_over)
        try:
            while chunk := self._chunk():
                splitter.feed(chunk)
            splitter.end()
            self._hand_over(None)
        except RuntimeError:
            # the loop is closed: the program is ending
            return

    def _chunk(self) -> bytes:
        try:
            return self._source.read(CHUNK)
        except (OSError, ValueError):
            # the terminal is gone, or the input was closed under us
            return b""

    def _hand_over(self, line: str | None) -> None:
        self._room.acquire()
        self._loop.call_soon_threadsafe(self._lines.put_nowait, line)


class LineSplitter:
    """Bytes made into lines; what is no UTF-8 is marked, and what is too long is cut."""

    def __init__(self, hand_over: Callable[[str], None]) -> None:
        self._hand_over = hand_over
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        self._rest = ""

    def feed(self, chunk: bytes) -> None:
        """Hand over every line that is whole now."""
        *lines, rest = (self._rest + self._decoder.decode(chunk)).split("\n")
        for line in lines:
            self._hand_over(line[:LONGEST].rstrip("\r"))
        self._rest = rest[:LONGEST]

    def end(self) -> None:
        """The last line may lack its end."""
        self.feed(b"")
        if self._rest:
            self._hand_over(self._rest.rstrip("\r"))
            self._rest = ""
