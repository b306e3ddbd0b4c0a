"""The programs that benchmarks compare: an echo server, and the game server."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measuring import children
from kit.server_process import running_server
from kit.stores import StoreServer
from saratoga_server.embedded_store.process import find_binary

OPTIONS = (
    *("--rate", "0", "--limits-per-address", "off"),
    *("--log-level", "warning", "--durability", "safe"),
)
"""Options of the server; those of the first line switch off limits that a closed loop would exceed."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running program: its port, and the process ids of servers and stores."""

    port: int
    servers: tuple[int, ...]
    stores: tuple[int, ...] = ()


@asynccontextmanager
async def echo_server() -> AsyncIterator[Running]:
    """Run `echo_server.py`."""
    command = [sys.executable, str(Path(__file__).parent / "echo_server.py")]
    server = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert server.stdout is not None
    try:
        yield Running(int(await server.stdout.readline()), (server.pid,))
    finally:
        server.terminate()
        await server.wait()


@contextmanager
def scratch_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="saratoga-bench-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@asynccontextmanager
async def game_server() -> AsyncIterator[Running]:
    """Run a server with its own store, in a new folder on disk."""
    with scratch_folder() as folder:
        async with running_server(*OPTIONS, folder=folder) as server:
            stores = children(server.pid, "valkey-server")
            yield Running(server.port, (server.pid,), stores)


@asynccontextmanager
async def lone_store() -> AsyncIterator[None]:
    """Run a Valkey server that writes to disk, configured as the embedded store is."""
    with scratch_folder() as folder:
        store = StoreServer(str(find_binary()), folder)
        store.start()
        try:
            yield
        finally:
            store.kill()
