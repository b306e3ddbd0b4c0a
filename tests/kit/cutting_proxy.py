"""A way to the store that loses answers: the request is carried out, and then the line goes dead."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

Loses = Callable[[bytes], bool]
"""Whether the answer to this piece of a request gets lost."""


class CuttingProxy:
    """Passes everything on between a socket of its own and the store's, but for what `loses` says."""

    def __init__(self, store: Path, socket: Path, loses: Loses) -> None:
        self.url = f"unix://{socket}"
        self.lost = 0
        """How many answers."""
        self.has_lost = asyncio.Event()
        self.loses = loses
        self._store = store
        self._lines: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._lines.add(task)
        try:
            far_reader, far_writer = await asyncio.open_unix_connection(self._store)
            try:
                await self._pass_on(reader, writer, far_reader, far_writer)
            finally:
                far_writer.transport.abort()
        except OSError:
            return
        finally:
            writer.transport.abort()
            self._lines.discard(task)

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        far_reader: asyncio.StreamReader,
        far_writer: asyncio.StreamWriter,
    ) -> None:
        doomed = False

        async def forth() -> None:
            nonlocal doomed
            while piece := await reader.read(1 << 20):
                doomed = doomed or self.loses(piece)
                far_writer.write(piece)

        async def back() -> None:
            while piece := await far_reader.read(1 << 20):
                if doomed:
                    self.lost += 1
                    self.has_lost.set()
                    return
                writer.write(piece)

        ways = [asyncio.create_task(forth()), asyncio.create_task(back())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def close(self) -> None:
        # whoever has just been let in begins a turn of the loop later, and ends one later
        await asyncio.sleep(0)
        for line in list(self._lines):
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)
        await asyncio.sleep(0)


@asynccontextmanager
async def cutting_proxy(store: Path, socket: Path, loses: Loses) -> AsyncIterator[CuttingProxy]:
    """A proxy that runs while entered."""
    proxy = CuttingProxy(store, socket, loses)
    server = await asyncio.start_unix_server(proxy.serve, socket)
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()


def every_first_call() -> Loses:
    """Lose the answer to each Function call, and not to the same call when it comes again."""
    seen: set[bytes] = set()

    def loses(piece: bytes) -> bool:
        if b"FCALL" not in piece or piece in seen:
            return False
        seen.add(piece)
        return True

    return loses


def next_call(function: str) -> Loses:
    """Lose the answer to the next call of that Function only."""
    waiting = [function.encode()]

    def loses(piece: bytes) -> bool:
        if waiting and waiting[0] in piece:
            waiting.clear()
            return True
        return False

    return loses
