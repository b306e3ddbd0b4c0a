"""A line to the house that breaks again and again, mostly between a request and its answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random


class WeakLine:
    """Passes on what is said, and breaks when enough has come back: the last answer gets lost."""

    def __init__(self, port: int, seed: int, answers: tuple[int, int]) -> None:
        self._port = port
        self._chance = Random(seed)
        self._answers = answers
        self._calls: set[asyncio.Task[None]] = set()
        self.url = ""
        self.breaks = 0
        self.has_broken = asyncio.Event()
        self.holds = False
        """Breaks no more."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        ways = [
            asyncio.create_task(self._pass_on(reader, far_writer, None)),
            asyncio.create_task(
                self._pass_on(far_reader, writer, self._chance.randint(*self._answers))
            ),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            far_writer.transport.abort()
            writer.transport.abort()
            self._calls.discard(task)

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pieces: int | None
    ) -> None:
        passed = 0
        while piece := await reader.read(1 << 16):
            passed += 1
            if passed == pieces and not self.holds:
                self.breaks += 1
                self.has_broken.set()
                return
            writer.write(piece)

    async def close(self) -> None:
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)


@asynccontextmanager
async def weak_line(port: int, seed: int, answers: tuple[int, int]) -> AsyncIterator[WeakLine]:
    """A line to `port` of this machine; each connection breaks after so many pieces from there."""
    line = WeakLine(port, seed, answers)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    line.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield line
    finally:
        server.close()
        await line.close()
        await server.wait_closed()
