"""Backups of the embedded store: the store's snapshot (RDB) and a note that describes it.

    saratoga-20261121T040011Z/
        backup.json         when, by which program and store; keys, size and SHA-256 of the snapshot
        dump.rdb

A backup is taken from a running store while races go on. It contains everything that was acknowledged
before it began. The folder gets its final name when the backup is complete. Stores other than the
embedded one are backed up and restored by their own tools (deploy/RUNBOOK.md).
"""

import asyncio
import datetime
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import BinaryIO, Final

import msgspec
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from saratoga_server.admin.renumber import renumber
from saratoga_server.app import compose_table_cache
from saratoga_server.embedded_store.append_files import SNAPSHOT, wait_for_child
from saratoga_server.embedded_store.embedded import running_store
from saratoga_server.embedded_store.ledger_file import read_ledger, renew_ledger, write_note
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.socket_path import open_socket_path, url_of
from saratoga_server.embedded_store.store_folder import refuse_other_user
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import opened_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.ledger import LedgerEntry
from saratoga_server.store.opening import open_store

PREFIX: Final = "saratoga-"
NOTE: Final = "backup.json"
UNFINISHED: Final = ".unfinished"
"""Suffix of the folder's name until the backup is complete."""
_NAME: Final = re.compile(rf"{PREFIX}\d{{8}}T\d{{6}}Z({re.escape(UNFINISHED)})?")
"""Matches the names of folders that `take` made. Other folders are never deleted."""
FORMAT: Final = 1

_LOOK_AGAIN: Final = 0.05
"""Seconds between two checks of whether the store has finished."""
_PIECE: Final = 1 << 20


class BackupNote(msgspec.Struct, frozen=True):
    """The contents of `backup.json`: what the backup is, and its checksum."""

    format: int
    taken: str
    """The time at which the store was asked for a snapshot, UTC."""
    program: str
    store_version: str
    size: int
    sha256: str
    keys: int
    """The number of keys, counted by a store that has read the snapshot."""
    generation: str = ""
    """The generation of the data (`store/ledger.py`), the sequence, and the newest time stored, in milliseconds."""
    sequence: int = 0
    newest: int = 0


class BadBackup(Exception):
    """A folder that is not a backup, or was changed since it was written; the text says why."""


async def take(store_folder: Path, folder: Path) -> tuple[Path, BackupNote]:
    """Back up the store that runs on `store_folder`; return the backup's folder, new in `folder`, and its note.

    The backup is read again to verify it. Paths are absolute. Raises `StoreRefused`, `StoreUnavailable` or
    `OSError` after removing the new folder.
    """
    taken = datetime.datetime.now(datetime.UTC)
    complete = folder / f"{PREFIX}{taken:%Y%m%dT%H%M%SZ}"
    begun = complete.with_name(complete.name + UNFINISHED)
    async with running_store(store_folder) as url:
        begun.mkdir(mode=0o700, parents=True)
        try:
            with _in_use(begun):
                with _one_at_a_time(store_folder):
                    store_version = await _save(url)
                    size, digest = await asyncio.to_thread(
                        _move, store_folder / SNAPSHOT, begun / SNAPSHOT
                    )
                keys, ledger = await _read(begun / SNAPSHOT)
                note = BackupNote(
                    format=FORMAT,
                    taken=taken.isoformat(timespec="seconds"),
                    program=f"saratoga-server {version('saratoga')}",
                    store_version=store_version,
                    size=size,
                    sha256=digest,
                    keys=keys,
                    generation=ledger.generation,
                    sequence=ledger.sequence,
                    newest=ledger.at,
                )
                with _new_file(begun / NOTE) as file:
                    file.write(msgspec.json.format(msgspec.json.encode(note)))
                await asyncio.to_thread(_finish, begun, complete)
        except BaseException:
            shutil.rmtree(begun, ignore_errors=True)
            raise
    return complete, note


@contextmanager
def _one_at_a_time(store_folder: Path) -> Iterator[None]:
    """Allow one backup at a time: until the store has written the snapshot and it was moved away."""
    with (store_folder / "backup.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreRefused("Another backup of this store is being taken.") from None
        yield


async def _save(url: str) -> str:
    """Make the store write a snapshot into its folder; return the store's version."""
    async with opened_client(url, "the store did not finish") as client:
        server = await client.info("server")
        await _begin_to_save(client)
        after = await wait_for_child(client, "rdb_bgsave_in_progress")
    if after["rdb_last_bgsave_status"] != "ok":
        raise StoreRefused(
            "The store could not write a snapshot; store.log in its folder says why."
        )
    return f"Valkey {server['valkey_version']}"


async def _begin_to_save(client: "Redis") -> None:
    while True:
        try:
            await client.bgsave(schedule=False)
        except ResponseError as refused:
            # it rewrites its append-only file: one child process at a time
            if "progress" not in str(refused) and "child process" not in str(refused):
                raise
        else:
            return
        await asyncio.sleep(_LOOK_AGAIN)


def _move(snapshot: Path, target: Path) -> tuple[int, str]:
    """Move a snapshot, if necessary to another disk; return its size and SHA-256."""
    digest, size = hashlib.sha256(), 0
    with snapshot.open("rb") as source, _new_file(target) as copy:
        while piece := source.read(_PIECE):
            copy.write(piece)
            digest.update(piece)
            size += len(piece)
        copy.flush()
        os.fsync(copy.fileno())
    snapshot.unlink()
    return size, digest.hexdigest()


def _new_file(path: Path) -> BinaryIO:
    """Create a file that only its owner can read, and open it for writing."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


async def _read(snapshot: Path) -> tuple[int, LedgerEntry]:
    """Return the number of keys in the snapshot, and its ledger; raise `StoreRefused` if no store can read it."""
    with TemporaryDirectory(prefix=PREFIX) as scratch:
        async with _store_on(snapshot, Path(scratch, "store")) as (_, client):
            return int(await client.dbsize()), await read_ledger(client)


@asynccontextmanager
async def _store_on(snapshot: Path, folder: Path) -> AsyncIterator[tuple[str, "Redis"]]:
    """Run a store in a new folder with the contents of the snapshot; yield its address and a client.

    A store that is started with its append-only file on ignores a snapshot, so this one has it off.
    """
    link = _make_folder(folder, snapshot)
    with (folder / "store.lock").open("a") as lock, open_socket_path(folder) as socket_path:
        store = await StoreProcess.start(folder, socket_path, {"appendonly": "no"}, lock)
        try:
            url = url_of(socket_path)
            async with opened_client(url, "the store did not finish") as client:
                yield url, client
        finally:
            await store.stop()
            link.unlink()


def _make_folder(folder: Path, snapshot: Path) -> Path:
    folder.mkdir(mode=0o700)
    link = folder / SNAPSHOT
    link.symlink_to(snapshot)
    return link


def _finish(begun: Path, complete: Path) -> None:
    """Give a backup its final name once all of it is on the disk."""
    for path in (begun / NOTE, begun):
        _flush(path)
    begun.rename(complete)
    _flush(complete.parent)


def _flush(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def prune(newest: Path, keep: int) -> list[Path]:
    """Delete older backups of the same data as `newest`, which was just taken; return the deleted folders.

    The sequence of their ledgers orders them, because a clock may have been wrong. Unfinished backups are deleted
    too; backups of other data are not. Raises `BadBackup`, before anything is deleted, if a backup has newer data.
    """
    generation = read_backup_note(newest).generation
    backups, unfinished = [], []
    for path in newest.parent.iterdir():
        if not _NAME.fullmatch(path.name):
            continue
        if path.suffix == UNFINISHED:
            unfinished.append(path)
            continue
        with suppress(BadBackup):
            note = read_backup_note(path)
            if note.generation == generation:
                backups.append((note.sequence, path == newest, path.name, path))
    backups.sort()
    if backups[-1][-1] != newest:
        raise BadBackup(
            f"Nothing was deleted, because {backups[-1][-1]} has newer data of this store than {newest}. If the "
            "store was set back on purpose, move the backups of the newer data elsewhere."
        )
    old = [path for *_, path in backups[:-keep]] + [
        path for path in unfinished if not _is_used(path)
    ]
    for path in old:
        shutil.rmtree(path)
    return old


def dated_later(newest: Path) -> list[Path]:
    """Return the backups beside `newest`, which was just taken, that look newer by their names."""
    found = (path for path in newest.parent.iterdir() if _NAME.fullmatch(path.name))
    return sorted(path for path in found if path.name > newest.name and path.suffix != UNFINISHED)


@contextmanager
def _in_use(begun: Path) -> Iterator[None]:
    """Mark the folder of a backup that is being taken, so that `prune` leaves it alone."""
    opened = os.open(begun, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


def _is_used(begun: Path) -> bool:
    try:
        with _in_use(begun):
            return False
    except BlockingIOError:
        return True


def read_backup_note(backup: Path) -> BackupNote:
    """Return a backup's note. Raises `BadBackup`."""
    try:
        note = msgspec.json.decode((backup / NOTE).read_bytes(), type=BackupNote)
    except (OSError, msgspec.DecodeError) as error:
        raise BadBackup(f"{backup} is not a backup: {error}.") from None
    if note.format != FORMAT:
        raise BadBackup(f"{backup} is of format {note.format}; this program reads {FORMAT}.")
    return note


def examine(backup: Path) -> BackupNote:
    """Verify a backup's snapshot and return the backup's note. Raises `BadBackup`."""
    note = read_backup_note(backup)
    try:
        with (backup / SNAPSHOT).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise BadBackup(f"{backup} is not complete: {error}.") from None
    if digest != note.sha256:
        raise BadBackup(f"{backup / SNAPSHOT} was changed since the backup: its SHA-256 differs.")
    return note


async def restore(backup: Path, store_folder: Path) -> tuple[int, BackupNote]:
    """Create `store_folder`, which is missing or empty, from a backup; return its number of keys.

    The folder appears when it is complete, with a generation of its own (`store/ledger.py`). The race numbers of
    open tables go on higher (`renumber`). Keys that have expired since the backup are not restored. Paths are
    absolute. Raises `BadBackup`, `StoreRefused`, `StoreUnavailable`, `OSError`.
    """
    refuse_other_user(store_folder)
    note = await asyncio.to_thread(examine, backup)
    parent = store_folder.parent
    await asyncio.to_thread(_make_room, store_folder)
    with TemporaryDirectory(prefix=".restoring-", dir=parent) as scratch:
        async with _store_on(backup / SNAPSHOT, Path(scratch, "store")) as (url, client):
            keys = int(await client.dbsize())
            ledger = await renew_ledger(client, token_hex(8))
            await client.config_set("appendonly", "yes")
            info = await wait_for_child(client, "aof_rewrite_in_progress", "aof_rewrite_scheduled")
            if info["aof_last_bgrewrite_status"] != "ok":
                raise StoreRefused(
                    f"The store could not write its files in {parent}. Is the disk full?"
                )
            async with open_store(url, Durability.FAST, is_guarded=False) as store:
                await renumber(store, await compose_table_cache(store))
        await asyncio.to_thread(write_note, Path(scratch, "store"), ledger)
        await asyncio.to_thread(_move_into_place, Path(scratch, "store"), store_folder)
    return keys, note


def _make_room(store_folder: Path) -> None:
    if store_folder.exists() and any(store_folder.iterdir()):
        raise StoreRefused(
            f"{store_folder} is not empty. Stop the server and move that folder away, or restore into "
            "another one with --data."
        )
    store_folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _move_into_place(begun: Path, store_folder: Path) -> None:
    begun.rename(store_folder)
    _flush(store_folder.parent)
