"""Backups of the embedded store: the store's snapshot (RDB) and a note that describes it.

    saratoga-20261121T040011Z/
        backup.json         when, by which program and store; size and SHA-256 of the snapshot
        dump.rdb

A backup is taken from a running store while races go on. It contains everything that was
acknowledged before it began. The folder gets its final name when the backup is complete. Stores
other than the embedded one are backed up and restored by their own tools (deploy/RUNBOOK.md).
"""

import asyncio
import datetime
import hashlib
import os
import re
import shutil
from collections.abc import Coroutine
from importlib.metadata import version
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, Final, TypeVar

import click
import msgspec
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from saratoga_server.admin.acts import Administration
from saratoga_server.admin.commands import RESTORED, StoreAccess, administrator, failure, say
from saratoga_server.config import without_password
from saratoga_server.embedded_store.append_files import SNAPSHOT, wait_for_child
from saratoga_server.embedded_store.embedded import running_store
from saratoga_server.embedded_store.ledger_file import renew_ledger, write_note
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.store_folder import open_socket_path, refuse_other_user, url_of
from saratoga_server.node import Node
from saratoga_server.ports import Durability, StoreRefused, StoreUnavailable
from saratoga_server.store.client import opened_client
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


class BadBackup(Exception):
    """A folder that is not a backup, or was changed since it was written; the text says why."""


async def take(store_folder: Path, folder: Path) -> tuple[Path, BackupNote]:
    """Back up the store that runs on `store_folder`; return the backup, in `folder`, and its note.

    Paths are absolute. After an error the new folder is removed.
    """
    taken = datetime.datetime.now(datetime.UTC)
    complete = folder / f"{PREFIX}{taken:%Y%m%dT%H%M%SZ}"
    begun = complete.with_name(complete.name + UNFINISHED)
    async with running_store(store_folder) as url:
        begun.mkdir(mode=0o700, parents=True)
        try:
            store_version = await _save(url)
            try:
                size, digest = await asyncio.to_thread(
                    _move, store_folder / SNAPSHOT, begun / SNAPSHOT
                )
            except FileNotFoundError:
                raise StoreRefused(
                    "Another backup of this store ran meanwhile. Try again."
                ) from None
            note = BackupNote(
                format=FORMAT,
                taken=taken.isoformat(timespec="seconds"),
                program=f"saratoga-server {version('saratoga')}",
                store_version=store_version,
                size=size,
                sha256=digest,
            )
            await asyncio.to_thread(_finish, begun, complete, note)
        except BaseException:
            shutil.rmtree(begun, ignore_errors=True)
            raise
    return complete, note


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


def _finish(begun: Path, complete: Path, note: BackupNote) -> None:
    """Write a backup's note, and give the backup its final name once all of it is on the disk."""
    with _new_file(begun / NOTE) as file:
        file.write(msgspec.json.format(msgspec.json.encode(note)))
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
    """Delete the backups beside `newest`, which was just taken, but for the last `keep` by name.

    `newest` is kept. Unfinished backups are deleted too. Return the deleted folders.
    """
    others = sorted(path for path in newest.parent.iterdir() if _NAME.fullmatch(path.name))
    others.remove(newest)
    unfinished = [path for path in others if path.suffix == UNFINISHED]
    complete = [path for path in others if path.suffix != UNFINISHED]
    old = [*complete[: max(0, len(complete) - keep + 1)], *unfinished]
    for path in old:
        shutil.rmtree(path)
    return old


def examine(backup: Path) -> BackupNote:
    """Verify a backup's snapshot and return the backup's note. Raises `BadBackup`."""
    try:
        note = msgspec.json.decode((backup / NOTE).read_bytes(), type=BackupNote)
    except (OSError, msgspec.DecodeError) as error:
        raise BadBackup(f"{backup} is not a backup: {error}.") from None
    if note.format != FORMAT:
        raise BadBackup(f"{backup} is of format {note.format}; this program reads {FORMAT}.")
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

    The folder appears when it is complete, with a generation of its own (`store/guard.py`). All
    tables are closed, because players may have seen races that it lacks. Paths are absolute. Raises
    `BadBackup`, `StoreRefused`, `StoreUnavailable`, `OSError`.
    """
    refuse_other_user(store_folder)
    note = await asyncio.to_thread(examine, backup)
    await asyncio.to_thread(_make_room, store_folder)
    with TemporaryDirectory(prefix=".restoring-", dir=store_folder.parent) as scratch:
        begun = Path(scratch, "store")
        keys = await _restore_into(begun, backup / SNAPSHOT)
        await asyncio.to_thread(_move_into_place, begun, store_folder)
    return keys, note


async def _restore_into(folder: Path, snapshot: Path) -> int:
    """Create a store in a new folder with the contents of a snapshot; return its number of keys."""
    link = _make_folder(folder, snapshot)
    with (folder / "store.lock").open("a") as lock, open_socket_path(folder) as socket_path:
        # a store that is started with its append-only file on ignores a snapshot
        process = await StoreProcess.start(folder, socket_path, {"appendonly": "no"}, lock)
        try:
            url = url_of(socket_path)
            async with opened_client(url, "the store did not finish") as client:
                keys = int(await client.dbsize())
                ledger = await renew_ledger(client, token_hex(8))
                await client.config_set("appendonly", "yes")
                info = await wait_for_child(
                    client, "aof_rewrite_in_progress", "aof_rewrite_scheduled"
                )
            if info["aof_last_bgrewrite_status"] != "ok":
                raise StoreRefused(
                    f"The store could not write its files in {folder.parent}. Is the disk full?"
                )
            async with open_store(url, Durability.FAST, is_guarded=False) as store:
                cache = (await Node.for_administration(store)).tables
                office = Administration(stores=store, table_cache=cache, who=administrator())
                await office.close_all(RESTORED)
        finally:
            await process.stop()
    link.unlink()
    await asyncio.to_thread(write_note, folder, ledger)
    return keys


def _make_folder(folder: Path, snapshot: Path) -> Path:
    folder.mkdir(mode=0o700)
    link = folder / SNAPSHOT
    link.symlink_to(snapshot)
    return link


def _make_room(store_folder: Path) -> None:
    if store_folder.exists() and any(store_folder.iterdir()):
        raise StoreRefused(
            f"{store_folder} is not empty. Stop the server and move that folder away, or restore "
            "into another one with --data."
        )
    store_folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)


def _move_into_place(begun: Path, store_folder: Path) -> None:
    begun.rename(store_folder)
    _flush(store_folder.parent)


# `saratoga-server admin backup` and `restore`


_T = TypeVar("_T")

_FAULTS: Final = (BadBackup, StoreRefused, StoreUnavailable, OSError)


@click.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, resolve_path=True, path_type=Path))
@click.option("--keep", type=click.IntRange(min=1), metavar="N",
    help="Delete all but the newest N backups in FOLDER afterwards.  [default: keep all]")  # fmt: skip
@click.pass_obj
def backup_command(access: StoreAccess, folder: Path, keep: int | None) -> None:
    """Back up the running server's embedded store into FOLDER, while races go on.

    Give each store a folder of its own.
    """
    _refuse_other_stores(access, "valkey-cli --rdb FILE")
    path, note = _run(take(access.folder, folder))
    say(f"{path}: {_described(note)}")
    if keep is not None:
        try:
            deleted = prune(path, keep)
        except OSError as fault:
            raise failure(fault) from None
        for old in deleted:
            say(f"{old}: deleted")


@click.command("restore")
@click.argument("source", metavar="BACKUP",
    type=click.Path(exists=True, resolve_path=True, path_type=Path))  # fmt: skip
@click.option("--check", is_flag=True, help="Only verify the backup's checksum.")
@click.pass_obj
def restore_command(access: StoreAccess, source: Path, check: bool) -> None:
    """Create an embedded store from BACKUP, in a data folder that has none.

    Give the folder with --data, as for the server. Start the server afterwards.
    """
    if check:
        try:
            note = examine(source)
        except BadBackup as fault:
            raise failure(fault) from None
        say(f"{source}: complete, {_described(note)}")
        return
    _refuse_other_stores(access, "the store's own tools")
    keys, note = _run(restore(source, access.folder))
    say(f"{keys} keys restored into {access.folder}, as of {note.taken}.")


def _refuse_other_stores(access: StoreAccess, instead: str) -> None:
    """Refuse a command for the embedded store, and name the right one, if the store is another."""
    if access.redis is not None:
        raise failure(
            f"This command is for the embedded store, but the server's store is "
            f"{without_password(access.redis)}. Use {instead} (deploy/RUNBOOK.md, Backups). "
            "For the embedded store of a folder, give --data."
        )


def _run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a command's work and return its result; exit with the reason if it fails (code 1)."""
    try:
        return asyncio.run(work)
    except _FAULTS as fault:
        raise failure(fault) from None


def _described(note: BackupNote) -> str:
    return f"{note.size} bytes, {note.store_version}, {note.taken}"
