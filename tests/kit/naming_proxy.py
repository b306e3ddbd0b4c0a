"""A proxy that says who calls, as a host's own does: it adds the caller at the end of a header."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from saratoga_server.allowance.addresses import HEADER


class NamingProxy:
    """Passes connections on to one port, under the address that it is told to name."""

    def __init__(self, port: int) -> None:
        self.url = ""
        self.client = "203.0.113.7"
        self._port = port
        self._calls: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._calls.add(task)
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            line = await reader.readline()
            far_writer.write(line + f"{HEADER}: {self.client}\r\n".encode())
            ways = [
                asyncio.create_task(_pass_on(reader, far_writer)),
                asyncio.create_task(_pass_on(far_reader, writer)),
            ]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        finally:
            far_writer.transport.abort()
            writer.close()
            self._calls.discard(task)

    async def close(self) -> None:
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)


@asynccontextmanager
async def naming_proxy(port: int) -> AsyncIterator[NamingProxy]:
    """A proxy before a port of this machine, until the end."""
    proxy = NamingProxy(port)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        server.close()
        await proxy.close()
        await server.wait_closed()
