"""The server's embedded store: Valkey as a child process on the server's data folder.

The folder holds:

* `server.lock`, locked by the server that uses the folder; it holds the process id, for error messages;
* `store.lock`, locked by the store while it lives, because two stores on one folder would ruin its files.
  The server locks the file, and the store inherits the lock;
* `store.sock`, on which the store listens; it listens on no network;
* `store.log` and the append-only files;
* `ledger.json`, by which the server notices that the files are damaged (see `ledger_file`).

A store that was not shut down in order writes its files anew before it is used (see `append_files`).

The folder and its files are closed to other users. The store ends with its server: it is shut down when
the server stops and, on Linux, also when the server is killed (see `process`). A server that finds a
leftover store on the folder shuts it down and starts its own.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from redis.exceptions import RedisError

from saratoga_server.embedded_store import append_files
from saratoga_server.embedded_store.interrupted_write import (
    CutFile,
    cut_interrupted_write,
    delete_old_copies,
)
from saratoga_server.embedded_store.ledger_file import LEDGER_KEY, LedgerFile, read_ledger
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.socket_path import ask, is_private, open_socket_path, url_of
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.ledger import compare

LEFTOVER_ENDS_WITHIN: Final = 20.0
"""Seconds to wait for a store left by an earlier server to exit."""

KILLED_SERVER_UNLOCKS_WITHIN: Final = 1.0
"""Seconds to wait for the folder's lock, which a killed server may still hold."""

_LOOK_AGAIN: Final = 0.05
"""Seconds between two attempts to lock a file."""
RESTART_PAUSE: Final = 1.0
"""Seconds between two attempts to start the store again."""
LONGEST_REWRITE_PAUSE: Final = 60.0
"""The longest pause, in seconds, between two attempts to write the store's files anew."""

_SYNC: Final = {Durability.FAST: "everysec", Durability.SAFE: "always"}

_log = EventLog("store")


@asynccontextmanager
async def running_store(folder: Path) -> AsyncIterator[str]:
    """Yield the address of the store that a running server has on the folder, for `admin` commands.

    Raises `StoreRefused` if no store answers there.
    """
    with open_socket_path(folder) as socket_path:
        if not is_private(folder) or not await ask(socket_path, b"PING"):
            raise StoreRefused(
                f"No server runs on {folder}. Start the server, or give its store with --data or "
                "--redis."
            )
        yield url_of(socket_path)


class EmbeddedStore:
    """A store that runs while entered: `async with EmbeddedStore(folder) as url`.

    If the store ends by itself, or is killed, it is started again on the same address. Raises
    `StoreRefused` if another server uses the folder, or the store does not come up.
    """

    def __init__(self, folder: Path, durability: Durability = Durability.SAFE) -> None:
        if durability not in _SYNC:
            raise StoreRefused(
                f"The embedded store has no replica, so it cannot offer --durability {durability}. "
                "Choose --durability safe, or give a store with a replica with --redis."
            )
        self.folder = folder
        self._settings = {
            "appendonly": "yes",
            "appendfsync": _SYNC[durability],
            # a damaged length looks to a store like an interrupted write: see `interrupted_write`
            "aof-load-truncated": "no",
        }
        self._resources = AsyncExitStack()
        self.ledger: Final = LedgerFile(folder)
        self._hold: str | None = None

    def why_held(self) -> str | None:
        """Return why the store must wait: it ended by itself, and is not ready yet; else `None`."""
        return self._hold

    @property
    def pid(self) -> int:
        """The process id of the present store."""
        return self._process.pid

    @property
    def supervision(self) -> "asyncio.Task[None]":
        """The task that restarts the store whenever it ends; the task never ends by itself."""
        return self._supervision

    async def __aenter__(self) -> str:
        try:
            return await self._open()
        except OSError as error:
            raise StoreRefused(_unusable(self.folder, error)) from error

    async def _open(self) -> str:
        async with AsyncExitStack() as resources:
            _make_private(self.folder)
            resources.enter_context(await _lock_for_server(self.folder))
            self._socket_path = resources.enter_context(open_socket_path(self.folder))
            was_in_order = await self.ledger.open()
            if self.ledger.note is None and append_files.sizes(self.folder):
                _log.warning("store_ledger_missing", folder=str(self.folder))
            self._process = await self._start(rewrites=not was_in_order)
            resources.push_async_callback(self._stop)
            self._supervision = asyncio.create_task(self._supervise())
            self._resources = resources.pop_all()
        return url_of(self._socket_path)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._resources.aclose()

    async def _stop(self) -> None:
        self._supervision.cancel()
        await asyncio.wait([self._supervision])
        await self._process.stop()
        await self.ledger.close(clean=self._process.ended_in_order and self._hold is None)

    async def _start(self, *, rewrites: bool) -> StoreProcess:
        """Start a store that has everything that is known of it; raise `StoreRefused` if that fails.

        `rewrites`: let it write its files anew, because its end before was not in order.
        """
        with await self._lock_for_store() as lock:
            note = self.ledger.note
            has_data = append_files.check_files(
                self.folder,
                is_known=note is not None,
                noted=note.files if note else append_files.NO_FILES,
            )
            store, cut = await self._load(lock, has_data=has_data)
        try:
            # the files are kept as they are if something is missing
            if has_data:
                await self._check_ledger()
        except BaseException:
            await store.stop()
            if cut is not None:
                cut.undo()
            raise
        if cut is not None:
            await asyncio.to_thread(delete_old_copies, self.folder)
        try:
            if has_data and rewrites:
                await self._rewrite()
        except BaseException:
            await store.stop()
            raise
        return store

    async def _load(self, lock: IO[str], *, has_data: bool) -> tuple[StoreProcess, CutFile | None]:
        """Start a store that has loaded the files, if need be without an interrupted last write.

        Raises `StoreRefused` if it does not start; the files are then as they were.
        """
        start = partial(StoreProcess.start, self.folder, self._socket_path, self._settings, lock)
        try:
            return await start(), None
        except StoreRefused as refused:
            if not has_data:
                raise
            reason = f"{refused}\nIf its files are damaged: {self.ledger.remedy}"
            cut = await asyncio.to_thread(cut_interrupted_write, self.folder)
            if cut is None:
                raise StoreRefused(reason) from None
        try:
            store = await start()
        except StoreRefused:
            await asyncio.to_thread(cut.undo)
            raise StoreRefused(reason) from None
        _log.error("store_file_cut", file=cut.path.name, bytes=cut.bytes, copy=cut.copy.name)
        return store, cut

    async def _rewrite(self) -> None:
        await append_files.rewrite(url_of(self._socket_path))
        _log.info("store_files_rewritten")
        await self.ledger.note_files()

    async def _check_ledger(self) -> None:
        """Raise `StoreRefused` if the store lacks what the ledger file says that it had."""
        client = open_client(url_of(self._socket_path))
        try:
            found = await read_ledger(client)
        except RedisError as error:
            raise StoreRefused(
                f"The embedded store's ledger cannot be read: {error}. {self.ledger.remedy}"
            ) from error
        finally:
            await client.aclose(close_connection_pool=True)
        loss = compare(self.ledger.recall().get(LEDGER_KEY), found)
        if loss is not None and not loss.is_tolerated:
            raise StoreRefused(f"{loss.sentence} {self.ledger.remedy}")
        self.ledger.go_on_from(found)

    async def _supervise(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            started = clock()
            await self._process.wait()
            self._hold = "The embedded store has ended by itself, and is being started again."
            _log.error("store_ended", pid=self._process.pid)
            await self._process.stop()
            # on a full disk, for example, a store starts and ends at its first write
            await asyncio.sleep(max(0.0, started + RESTART_PAUSE - clock()))
            self._process = await self._restart()
            if await self._is_rewritten():
                self._hold = None

    async def _is_rewritten(self) -> bool:
        """Let the store write its files anew, until that succeeds; return False if the store ends meanwhile.

        Each attempt that fails leaves another file of moves, so the pauses between them grow.
        """
        pause = RESTART_PAUSE
        while True:
            try:
                await self._rewrite()
            except Exception as fault:  # any error: a later attempt may succeed
                _log.error("store_rewrite_failed", fault=fault)
                self._hold = (
                    f"{str(fault).rstrip('.')}. It is tried again, and until it succeeds nothing is kept. The "
                    "disk needs room for a second copy of the data."
                )
            else:
                return True
            if await self._process.wait(pause):
                return False
            pause = min(2 * pause, LONGEST_REWRITE_PAUSE)

    async def _restart(self) -> StoreProcess:
        while True:
            try:
                store = await self._start(rewrites=False)
            except Exception as fault:  # any error: players wait, and a later attempt may succeed
                _log.error("store_start_failed", fault=fault)
                # without the end of the store's log
                said = str(fault).partition("\n")[0]
                if isinstance(fault, OSError):
                    said = _unusable(self.folder, fault)
                self._hold = f"The embedded store ended, and does not start again: {said}"
            else:
                _log.warning("store_restarted", pid=store.pid)
                return store
            await asyncio.sleep(RESTART_PAUSE)

    async def _lock_for_store(self) -> IO[str]:
        """Shut down an earlier server's store, lock the folder, and return the locked file."""
        clock = asyncio.get_running_loop().time
        until = clock() + LEFTOVER_ENDS_WITHIN
        path = self.folder / "store.lock"
        while (lock := await _locked(path, within=0)) is None:
            if clock() > until:
                raise StoreRefused(
                    f"A store of an earlier server still uses {self.folder} and does not shut down. "
                    f"End its process (`fuser {path}` names it), then start again."
                )
            await ask(self._socket_path, b"SHUTDOWN")
            await asyncio.sleep(_LOOK_AGAIN)
        return lock


def _unusable(folder: Path, error: OSError) -> str:
    """Return sentences that say why the folder cannot be used, and what to do."""
    at = f": {error.filename}" if error.filename else ""
    return (
        f"{folder} cannot hold the store ({error.strerror or error}{at}). Correct that, or give "
        "another folder with --data."
    )


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with contextlib.suppress(PermissionError):  # the folder of another user is refused below
        folder.chmod(0o700)
    if not is_private(folder):
        raise StoreRefused(
            f"{folder} belongs to another user or is open to others, so a store there could be "
            "replaced. Give a folder of your own with --data."
        )


async def _lock_for_server(folder: Path) -> IO[str]:
    path = folder / "server.lock"
    # if a server was killed while starting its store, the child holds the lock a moment longer
    lock = await _locked(path, within=KILLED_SERVER_UNLOCKS_WITHIN)
    if lock is None:
        raise StoreRefused(
            f"{folder} is in use by another server, process {path.read_text() or 'unknown'}. "
            "Stop that server, or give another folder with --data."
        )
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


async def _locked(path: Path, within: float) -> IO[str] | None:
    """Open and lock the file, waiting `within` seconds; return `None` if it stays locked."""
    clock = asyncio.get_running_loop().time
    until = clock() + within
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(path.open("a"))
        while not _is_locked_now(file):
            if clock() >= until:
                return None
            await asyncio.sleep(_LOOK_AGAIN)
        opened.pop_all()
    return file


def _is_locked_now(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
