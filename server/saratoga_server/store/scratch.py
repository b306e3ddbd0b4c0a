"""A store that is run for a moment on a snapshot, to read what is in it. It writes nothing."""

import asyncio
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from redis.asyncio import Redis

from saratoga_server.embedded_store.process import (
    StoreNote,
    comes_up,
    find_binary,
    last_lines,
    new_socket,
    url_of,
)
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client

LOG: Final = "log"

_END_WITHIN: Final = 10.0
"""Seconds."""


def program_for(product: str) -> Path:
    """The program that reads snapshots of `Redis` or `Valkey`; raises `StoreRefused` without one.

    Each reads its own, of the same version and of older ones, and Valkey those of Redis up to 7.2.
    """
    found = shutil.which(f"{product.lower()}-server")
    return Path(found) if found else find_binary()


@asynccontextmanager
async def open_scratch(program: Path, snapshot: Path, database: int) -> AsyncIterator["Redis"]:
    """A client of a store that holds the snapshot. `StoreRefused`: it cannot be read."""
    socket = new_socket()
    folder = Path(socket).parent
    try:
        process = _spawned(program, snapshot, socket, database)
        try:
            note = StoreNote(process.pid, socket)
            if not await comes_up(note, lambda: process.poll() is None):
                raise StoreRefused(
                    f"{program} cannot read {snapshot.name}; it said:\n{last_lines(folder / LOG)}"
                )
            client = open_client(f"{url_of(note)}?db={database}")
            try:
                yield client
            finally:
                await client.aclose(close_connection_pool=True)
                # a socket is closed a turn of the loop after its transport
                await asyncio.sleep(0)
        finally:
            process.kill()
            await asyncio.to_thread(process.wait, _END_WITHIN)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _spawned(
    program: Path, snapshot: Path, socket: str, database: int
) -> "subprocess.Popen[bytes]":
    settings = {
        "port": "0",
        "unixsocket": socket,
        "unixsocketperm": "700",
        "dir": str(snapshot.resolve().parent),
        "dbfilename": snapshot.name,
        "save": "",
        "appendonly": "no",
        "daemonize": "no",
        "databases": str(max(16, database + 1)),
    }
    flags = [part for name, value in settings.items() for part in (f"--{name}", value)]
    with Path(socket).with_name(LOG).open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - our own program and settings
            [str(program), *flags], stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
