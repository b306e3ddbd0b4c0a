"""Paths to the store's socket, `store.sock` in its folder, for folders with long paths.

A Unix socket's path is limited to about a hundred bytes. The store binds the socket relative to its
working directory, which is the folder, so the limit does not concern it. A client whose path would be too
long connects through a symlink in a private temporary directory.
"""

import asyncio
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

SOCKET: Final = "store.sock"

PATH_LIMIT: Final = 100
"""The longest socket path in bytes; macOS allows 103, Linux 107."""

ANSWER_WITHIN: Final = 2.0
"""Seconds in which a command must be answered."""


@contextmanager
def open_socket_path(folder: Path, name: str = SOCKET) -> Iterator[str]:
    """Yield a path to the folder's socket that is short enough; the store need not listen yet."""
    socket = folder.resolve() / name
    if len(os.fsencode(socket)) <= PATH_LIMIT:
        yield str(socket)
        return
    with tempfile.TemporaryDirectory(prefix="saratoga-", dir=_short_folder()) as private:
        link = Path(private, name)
        link.symlink_to(socket)
        yield str(link)


def _short_folder() -> str:
    usual = tempfile.gettempdir()
    room_for_names = 32
    return usual if len(os.fsencode(usual)) + room_for_names <= PATH_LIMIT else "/tmp"  # noqa: S108


def url_of(socket_path: str) -> str:
    """Return the `unix://` address of a socket; the path may hold any character."""
    return f"unix://{quote(socket_path)}"


def is_private(folder: Path) -> bool:
    """Return whether the folder belongs to this user and is closed to all others."""
    try:
        found = folder.stat()
    except OSError:
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


async def ask(socket_path: str, command: bytes) -> bytes:
    """Return the reply to a one-word command; empty if the store does not answer in time."""
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            reader, writer = await asyncio.open_unix_connection(socket_path)
            try:
                writer.write(command + b"\r\n")
                return await reader.readline()
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError):
        return b""
