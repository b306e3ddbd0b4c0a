"""`kill -9` of the server, its embedded store, or both keeps acknowledged writes.

At the level `fast` a killed store may lose writes that it has acknowledged but not yet handed to the
system: up to two seconds of writes while the disk is slow. server/README.md says so.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from redis.exceptions import RedisError

from kit.racing_bots import Victim
from kit.stores import SCRATCH
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.store.client import open_client
from saratoga_server.store.durability import Durability

SERVER = """
import asyncio, sys
from pathlib import Path
from saratoga_server.embedded_store.embedded import EmbeddedStore
from saratoga_server.store.durability import Durability

async def main():
    store = EmbeddedStore(Path(sys.argv[1]), Durability(sys.argv[2]))
    async with store as url:
        print(url, store.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""

BEFORE_THE_KILL = 500
"""The number of writes before the kill."""


@pytest.fixture
def folder() -> Iterator[Path]:
    with TemporaryDirectory(prefix="saratoga-", dir=SCRATCH, ignore_cleanup_errors=True) as scratch:
        yield Path(scratch) / "store"


async def acknowledged_until(url: str, kill: Callable[[], None]) -> int:
    """Write again and again while a process is killed; return the number of acknowledged writes."""
    client = open_client(url)
    written = 0
    try:
        while True:
            if written == BEFORE_THE_KILL:
                asyncio.get_running_loop().call_soon(kill)
            await client.rpush("log", written)
            written += 1
    except RedisError:
        return written
    finally:
        await client.aclose(close_connection_pool=True)


async def held(folder: Path) -> int:
    async with EmbeddedStore(folder) as url:
        client = open_client(url)
        try:
            return await client.llen("log")
        finally:
            await client.aclose(close_connection_pool=True)


@pytest.mark.parametrize(
    ("level", "victim"),
    [(Durability.SAFE, each) for each in Victim] + [(Durability.FAST, Victim.SERVER)],
)
async def test_acknowledged_writes_survive(folder: Path, level: Durability, victim: Victim) -> None:
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, str(folder), level), stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    url, store = (await server.stdout.readline()).decode().split()

    def kill() -> None:
        if victim is not Victim.SERVER:
            os.kill(int(store), signal.SIGKILL)
        if victim is not Victim.STORE:
            server.kill()

    written = await acknowledged_until(url, kill)
    if victim is Victim.STORE:
        server.kill()
    await server.wait()
    assert written >= BEFORE_THE_KILL
    assert await held(folder) >= written
