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
import shlex
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from redis.exceptions import RedisError

from saratoga_server.embedded_store import append_files
from saratoga_server.embedded_store.daemon_threads import in_daemon_thread
from saratoga_server.embedded_store.interrupted_write import (
    CutFile,
    cut_interrupted_write,
    delete_old_copies,
)
from saratoga_server.embedded_store.ledger_file import LEDGER_KEY, LedgerFile, read_ledger
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.socket_path import ask, is_private, open_socket_path, url_of
from saratoga_server.embedded_store.store_folder import (
    LOOK_AGAIN,
    lock_for_server,
    locked,
    make_private,
    refuse_other_user,
    unusable,
)
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import open_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.ledger import compare

LEFTOVER_ENDS_WITHIN: Final = 20.0
"""Seconds to wait for a store left by an earlier server to exit."""

CHECK_FILES_EVERY: Final = 3.0
"""Seconds between two checks of whether a running store's files are there."""
RESTART_PAUSE: Final = 1.0
"""Seconds between two attempts to start the store again."""
LONGEST_REWRITE_PAUSE: Final = 60.0
"""The longest pause, in seconds, between two attempts to write the store's files anew."""

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
            raise StoreRefused(unusable(self.folder, error)) from error

    async def _open(self) -> str:
        async with AsyncExitStack() as resources:
            make_private(self.folder)
            resources.enter_context(await lock_for_server(self.folder))
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
        try:
            if await self._missing_files():
                await self._rewrite()
        except Exception as fault:  # any error: the next start says what is missing
            _log.error("store_rewrite_failed", fault=fault)
        finally:
            await self._process.stop()
        await self.ledger.close(clean=self._process.ended_in_order and self._hold is None)

    async def _start(self, *, rewrites: bool) -> StoreProcess:
        """Start a store that has everything that is known of it; raise `StoreRefused` if that fails.

        `rewrites`: let it write its files anew, because its end before was not in order.
        """
        with await self._lock_for_store() as lock:
            has_data = self._check_files()
            await self.ledger.note_use()
            append_files.delete_temporary_files(self.folder)
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
            await asyncio.to_thread(delete_old_copies, self.folder, cut.copy)
        try:
            if has_data and rewrites:
                await self._rewrite()
        except BaseException:
            await store.stop()
            raise
        return store

    def _check_files(self) -> bool:
        """Return whether there are data; raise `StoreRefused` if files are missing or shortened."""
        note = self.ledger.note
        if note is None:
            return append_files.check_files(self.folder, is_known=False)
        has_data = append_files.check_files(
            self.folder, is_known=True, noted=note.files, is_clean=note.clean
        )
        for name, missing in append_files.missing_bytes(self.folder, note.files).items():
            _log.error("store_file_shorter", file=name, bytes=missing)
        return has_data

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
            cut = await self._cut_interrupted_write()
            if cut is None:
                raise StoreRefused(reason) from None
        try:
            store = await start()
        except BaseException as fault:
            cut.undo()
            if isinstance(fault, StoreRefused):
                raise StoreRefused(reason) from None
            raise
        _log.error("store_file_cut", file=cut.path.name, bytes=cut.bytes, copy=cut.copy.name)
        return store, cut

    async def _cut_interrupted_write(self) -> CutFile | None:
        work = partial(cut_interrupted_write, self.folder)
        cutting = asyncio.create_task(in_daemon_thread(work))
        try:
            await asyncio.wait([cutting])
        except asyncio.CancelledError:
            # no other server may lock the folder while the thread works on the files
            await asyncio.wait([cutting])
            if not cutting.exception() and (cut := cutting.result()) is not None:
                cut.undo()
            raise
        return cutting.result()

    async def _rewrite(self) -> None:
        folder = self.folder / append_files.FOLDER
        await in_daemon_thread(partial(folder.mkdir, mode=0o700, exist_ok=True))
        await append_files.rewrite(url_of(self._socket_path))
        if gone := await self._missing_files():
            raise StoreRefused(
                f"The embedded store has written its files anew, but lacks {gone[0]}."
            )
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
            await self._keep_files()
            self._hold = "The embedded store has ended by itself, and is being started again."
            _log.error("store_ended", pid=self._process.pid)
            await self._process.stop()
            # on a full disk, for example, a store starts and ends at its first write
            await asyncio.sleep(max(0.0, started + RESTART_PAUSE - clock()))
            self._process = await self._restart()
            if await self._is_rewritten():
                self._hold = None

    async def _keep_files(self) -> None:
        """Wait until the store ends. Let it write its files anew if they are deleted meanwhile: it does not notice."""
        while not await self._process.wait(CHECK_FILES_EVERY):
            try:
                gone = await self._missing_files()
            except Exception as fault:  # any error: a later check may succeed
                _log.error("store_check_failed", fault=fault)
                continue
            if not gone:
                continue
            _log.error("store_files_missing", files=", ".join(gone))
            self._hold = "Files of the embedded store were deleted, and are being written anew."
            if await self._is_rewritten():
                self._hold = None

    async def _missing_files(self) -> list[str]:
        return await in_daemon_thread(partial(append_files.missing_files, self.folder))

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
                said = unusable(self.folder, fault) if isinstance(fault, OSError) else str(fault)
                self._hold = (
                    f"{said.rstrip('.')}. It is tried again, and until it succeeds nothing is kept. The "
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
                    said = unusable(self.folder, fault)
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
        while (lock := await locked(path, within=0)) is None:
            if clock() > until:
                raise StoreRefused(
                    f"A store of an earlier server still uses {self.folder} and does not shut down. "
                    f"End its process (`fuser {shlex.quote(str(path))}` names it), then start again."
                )
            await ask(self._socket_path, b"SHUTDOWN")
            await asyncio.sleep(LOOK_AGAIN)
        return lock
