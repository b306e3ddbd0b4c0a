"""The server's embedded store: Valkey as a child process on the server's data folder.

The folder holds:

* `server.lock`, locked by the server that uses the folder; it holds the process id;
* `store.lock`, locked by the store while it lives: two stores on one folder would ruin it.
  The server locks the file, and the store inherits the lock;
* `store.sock`, on which the store listens; it listens on no network;
* `store.log` and the append-only files;
* `ledger.json`, by which the server notices that its store has lost data (see `ledger_file`).

A store that ended without being shut down by its server rewrites its files before players use it
(see `append_files`).

The folder and its files are closed to other users. The store ends with its server: it is shut down
when the server stops and, on Linux, also when the server is killed (see `process`). A server that
finds a leftover store on the folder shuts it down and starts its own.
"""

import asyncio
import shlex
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from time import time
from types import TracebackType
from typing import IO, Final

from saratoga_server.embedded_store import append_files
from saratoga_server.embedded_store.ledger_file import NAME, LedgerFile
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.store_folder import (
    LOOK_AGAIN,
    SOCKET,
    ask,
    is_private,
    lock_for_server,
    locked,
    make_private,
    open_socket_path,
    refuse_other_user,
    unusable,
    url_of,
)
from saratoga_server.logs import EventLog
from saratoga_server.ports import Durability, StoreRefused

LEFTOVER_ENDS_WITHIN: Final = 20.0
"""Seconds to wait for a store left by an earlier server to exit."""

RESTART_PAUSE: Final = 1.0
"""The shortest time, in seconds, between two starts of the store."""
LONGEST_RESTART_PAUSE: Final = 10.0
"""The longest pause, in seconds, between two attempts to start the store again."""

REWRITE_SOCKET: Final = "rewrite.sock"
"""The socket of a store that rewrites its files and that no player uses."""

_SYNC: Final = {Durability.FAST: "everysec", Durability.SAFE: "always"}

_log = EventLog("store")


@asynccontextmanager
async def running_store(folder: Path) -> AsyncIterator[str]:
    """Yield the address of the store that a running server has on the folder, for `admin` commands.

    Raises `StoreRefused` if no store answers there, or the folder belongs to another user.
    """
    refuse_other_user(folder)
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

    def __init__(
        self,
        folder: Path,
        durability: Durability = Durability.SAFE,
        *,
        while_starting: Callable[[], object] = lambda: None,
    ) -> None:
        """`durability`: `fast` or `safe`; an embedded store has no replica.

        Call `while_starting` whenever the store's process has been started, before it takes
        commands.
        """
        self._while_starting = while_starting
        self.folder = folder
        self._settings = {
            "appendonly": "yes",
            "appendfsync": _SYNC[durability],
            # a crash may have interrupted the last write, which was not acknowledged
            "aof-load-truncated": "yes",
        }
        self._resources = AsyncExitStack()
        self.ledger: Final = LedgerFile(folder)

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
            raise StoreRefused(unusable(self.folder, error)) from error

    async def _open(self) -> str:
        async with AsyncExitStack() as resources:
            make_private(self.folder)
            resources.enter_context(await lock_for_server(self.folder))
            self._socket_path = resources.enter_context(open_socket_path(self.folder))
            await self._copy_if_old()
            was_in_order = await self.ledger.open()
            self._process = await self._start(rewrites=not was_in_order)
            resources.push_async_callback(self._stop)
            self._supervision = asyncio.create_task(self._supervise())
            self._resources = resources.pop_all()
        return url_of(self._socket_path)

    async def _copy_if_old(self) -> None:
        try:
            last_used = (self.folder / NAME).stat().st_mtime
            copy = await asyncio.to_thread(append_files.copy_if_old, self.folder, last_used, time())
        except FileNotFoundError:
            return  # a new store
        except (OSError, shutil.Error) as error:
            _log.error("store_not_copied", reason=str(error))
        else:
            if copy is not None:
                _log.warning("store_copied", copy=str(copy))

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
        await self.ledger.close(clean=self._process.ended_in_order)

    async def _start(self, *, rewrites: bool) -> StoreProcess:
        """Start a store on the folder; raise `StoreRefused` if that fails.

        `rewrites`: first let it rewrite its files, because it did not end by our shutdown.
        """
        with await self._lock_for_store() as lock:
            has_data = append_files.check_files(self.folder)
            await self.ledger.note_use()
            append_files.delete_temporary_files(self.folder)
            try:
                if has_data and rewrites:
                    await self._rewrite(lock)
                return await StoreProcess.start(
                    self.folder, self._socket_path, self._settings, lock, self._while_starting
                )
            except StoreRefused as refused:
                if not has_data:
                    raise
                remedy = append_files.remedy_for(self.folder)
                raise StoreRefused(f"{refused}\nIf its files are damaged:\n{remedy}") from None

    async def _rewrite(self, lock: IO[str]) -> None:
        """Start a store that only rewrites its files, on another socket, and shut it down."""
        with open_socket_path(self.folder, REWRITE_SOCKET) as path:
            settings = {**self._settings, "unixsocket": REWRITE_SOCKET}
            store = await StoreProcess.start(self.folder, path, settings, lock)
            try:
                await append_files.rewrite(url_of(path))
            finally:
                await store.stop()
        _log.info("store_files_rewritten")

    async def _supervise(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            started = clock()
            await self._process.wait()
            _log.error("store_ended", pid=self._process.pid)
            await self._process.stop()
            # on a full disk, for example, a store starts and ends at its first write
            await asyncio.sleep(max(0.0, started + RESTART_PAUSE - clock()))
            self._process = await self._restart()

    async def _restart(self) -> StoreProcess:
        """Start the store again, as often as needed, after growing pauses."""
        pause = RESTART_PAUSE
        while True:
            try:
                store = await self._start(rewrites=True)
            except Exception as fault:  # any error: players wait, and a later attempt may succeed
                _log.error("store_start_failed", fault=fault)
            else:
                _log.warning("store_restarted", pid=store.pid)
                return store
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RESTART_PAUSE)

    async def _lock_for_store(self) -> IO[str]:
        """Shut down an earlier server's store, lock the folder, and return the locked file."""
        clock = asyncio.get_running_loop().time
        until = clock() + LEFTOVER_ENDS_WITHIN
        path = self.folder / "store.lock"
        while (lock := await locked(path, within=0)) is None:
            if clock() > until:
                raise StoreRefused(
                    f"A store of an earlier server still uses {self.folder} and does not shut "
                    f"down. End its process (`fuser {shlex.quote(str(path))}` names it), then "
                    "start again."
                )
            for name in (SOCKET, REWRITE_SOCKET):
                with open_socket_path(self.folder, name) as socket_path:
                    await ask(socket_path, b"SHUTDOWN")
            await asyncio.sleep(LOOK_AGAIN)
        return lock
