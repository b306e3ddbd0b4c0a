"""The folder of an embedded store: closed to others, locked by its server, with the store's socket.

A Unix socket's path is limited to about a hundred bytes. The store binds the socket relative to its
working directory, which is the folder, so the limit does not concern it. A client whose path would
be too long connects through a symlink in a private temporary directory.
"""

import asyncio
import contextlib
import fcntl
import os
import pwd
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final
from urllib.parse import quote

from saratoga_server.ports import StoreRefused

KILLED_SERVER_UNLOCKS_WITHIN: Final = 1.0
"""Seconds to wait for the folder's lock, which a killed server may still hold."""

LOOK_AGAIN: Final = 0.05
"""Seconds between two attempts to lock a file."""

SOCKET: Final = "store.sock"

PATH_LIMIT: Final = 100
"""The longest socket path in bytes; macOS allows 103, Linux 107."""

ANSWER_WITHIN: Final = 2.0
"""Seconds in which a command must be answered."""


def unusable(folder: Path, error: OSError) -> str:
    """Return sentences that say why the folder cannot be used, and what to do."""
    at = f": {error.filename}" if error.filename else ""
    return (
        f"{folder} cannot hold the store ({error.strerror or error}{at}). Correct that, or give "
        "another folder with --data."
    )


def make_private(folder: Path) -> None:
    """Create the folder if needed, and close it to other users. Raises `StoreRefused`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(PermissionError):  # the folder of another user is refused below
        folder.chmod(0o700)
    if not is_private(folder):
        raise StoreRefused(
            f"{folder} belongs to another user or is open to others, so a store there could be "
            "replaced. Give a folder of your own with --data."
        )


def refuse_other_user(folder: Path) -> None:
    """Raise `StoreRefused` if a store's folder belongs to another user.

    What root writes into a folder of another user could not be used by that user's server.
    """
    for path in (folder.absolute(), *folder.absolute().parents):
        try:
            owner = path.stat().st_uid
        except PermissionError:
            continue  # in a closed folder, whose owner counts
        except OSError:
            if os.getuid() != 0:
                return
            continue  # what root creates belongs to the owner of the folder in which it is
        if owner != os.getuid():
            raise StoreRefused(
                f"{path} belongs to another user. Run this command as {user_name(owner)}, who owns it."
            )
        return


def user_name(uid: int) -> str:
    """Return the name of a user of this system."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


async def lock_for_server(folder: Path) -> IO[str]:
    """Lock the folder; return the locked file. Raises `StoreRefused` if a server uses it."""
    path = folder / "server.lock"
    # if a server was killed while starting its store, the child holds the lock a moment longer
    lock = await locked(path, within=KILLED_SERVER_UNLOCKS_WITHIN)
    if lock is None:
        raise StoreRefused(
            f"{folder} is in use by another server, process {path.read_text() or 'unknown'}. "
            "Stop that server, or give another folder with --data."
        )
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


async def locked(path: Path, within: float) -> IO[str] | None:
    """Open and lock the file, waiting `within` seconds; return `None` if it stays locked."""
    clock = asyncio.get_running_loop().time
    until = clock() + within
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(path.open("a"))
        while not _is_locked_now(file):
            if clock() >= until:
                return None
            await asyncio.sleep(LOOK_AGAIN)
        opened.pop_all()
    return file


def _is_locked_now(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
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
