"""Backups: a folder with a snapshot of every primary, and a note of what it is.

    saratoga-20261121T040011Z/
        backup.json         when, of which store, by which program; of each snapshot size and SHA-256
        0.rdb, 1.rdb ...    a primary each

A backup is taken from a running store, over its own connection, while races go on; everything that
was acknowledged before it began is in it. A folder of that name is whole: it gets it at the end.
"""

import asyncio
import datetime
import hashlib
import os
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
from redis.exceptions import RedisError

from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.bare import open_bare_store
from saratoga_server.store.copying import copy_all
from saratoga_server.store.scratch import open_scratch, program_for
from saratoga_server.store.snapshots import fetch_snapshot

PREFIX: Final = "saratoga-"
NOTE: Final = "backup.json"
UNFINISHED: Final = ".unfinished"
"""What the name of a folder ends in that is not whole yet."""
FORMAT: Final = 1


class SnapshotNote(msgspec.Struct, frozen=True):
    """One primary's part of a backup."""

    file: str
    primary: str
    size: int
    sha256: str
    keys: int
    """As counted in the snapshot itself, read by a store."""


class BackupNote(msgspec.Struct, frozen=True):
    """What a backup says of itself."""

    format: int
    taken: str
    """UTC, when the store was first asked."""
    program: str
    product: str
    store_version: str
    database: int
    snapshots: list[SnapshotNote]

    @property
    def keys(self) -> int:
        return sum(each.keys for each in self.snapshots)


class BadBackup(Exception):
    """This is no backup, or not what was written; the text says why."""


async def take(url: str, folder: Path) -> tuple[Path, BackupNote]:
    """Back up the store at that address into a new folder in `folder`, and read it again.

    Raises `StoreRefused`, `StoreUnavailable`, `OSError`; what was begun is thrown away then.
    """
    taken = datetime.datetime.now(datetime.UTC)
    whole = folder / f"{PREFIX}{taken:%Y%m%dT%H%M%SZ}"
    begun = whole.with_name(whole.name + UNFINISHED)
    begun.mkdir(mode=0o700, parents=True)
    try:
        note = await _taken(url, begun, taken)
        (begun / NOTE).write_bytes(msgspec.json.format(msgspec.json.encode(note)))
        await asyncio.to_thread(_settle, begun, whole)
    except BaseException:
        shutil.rmtree(begun, ignore_errors=True)
        raise
    return whole, note


async def _taken(url: str, begun: Path, taken: datetime.datetime) -> BackupNote:
    database = _database(url)
    snapshots = []
    async with open_bare_store(url) as store:
        program = program_for(store.product)
        for number, primary in enumerate(store.primaries.all()):
            path = begun / f"{number}.rdb"
            snapshot = await fetch_snapshot(primary.url, path)
            async with open_scratch(program, path, database) as scratch:
                keys = await scratch.dbsize()
            snapshots.append(
                SnapshotNote(path.name, primary.name, snapshot.size, snapshot.sha256, keys)
            )
        return BackupNote(
            format=FORMAT,
            taken=taken.isoformat(timespec="seconds"),
            program=f"saratoga-server {version('saratoga')}",
            product=store.product,
            store_version=store.version,
            database=database,
            snapshots=snapshots,
        )


def _database(url: str) -> int:
    number = urlsplit(url).path.strip("/")
    return int(number) if number.isdigit() else 0


def _settle(begun: Path, whole: Path) -> None:
    """Give a backup its name once all of it is on the disk."""
    for path in (begun / NOTE, begun):
        _flush(path)
    begun.rename(whole)
    _flush(whole.parent)


def _flush(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def prune(folder: Path, keep: int) -> list[Path]:
    """Throw away all but the newest backups, and what was never finished; returns what went."""
    found = sorted(path for path in folder.glob(f"{PREFIX}*") if path.is_dir())
    whole = [path for path in found if (path / NOTE).exists() and path.suffix != UNFINISHED]
    old = [path for path in found if path not in whole[-keep:]]
    for path in old:
        shutil.rmtree(path)
    return old


def examine(backup: Path) -> BackupNote:
    """Read what a backup says of itself, and hold every file against it. Raises `BadBackup`."""
    try:
        note = msgspec.json.decode((backup / NOTE).read_bytes(), type=BackupNote)
    except (OSError, msgspec.DecodeError) as error:
        raise BadBackup(f"{backup} is no backup: {error}.") from None
    if note.format != FORMAT:
        raise BadBackup(f"{backup} is of format {note.format}; this program reads {FORMAT}.")
    for each in note.snapshots:
        try:
            with (backup / each.file).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise BadBackup(f"{backup} is not whole: {error}.") from None
        if digest != each.sha256:
            raise BadBackup(f"{backup / each.file} is not what was written: its SHA-256 differs.")
    return note


async def restore(backup: Path, url: str) -> tuple[int, BackupNote]:
    """Copy a backup into the empty store at that address; how many keys, of how many.

    What has expired since the backup is not copied. Raises `BadBackup`, `StoreRefused`,
    `StoreUnavailable`.
    """
    note = await asyncio.to_thread(examine, backup)
    try:
        return await _restored(backup, note, url), note
    except RedisError as error:
        raise StoreUnavailable(f"the store broke off: {error}") from error


async def _restored(backup: Path, note: BackupNote, url: str) -> int:
    program = program_for(note.product)
    copied = 0
    async with open_bare_store(url) as store:
        for primary in store.primaries.all():
            held = await primary.client.dbsize()
            if held:
                raise StoreRefused(
                    f"{primary.name} is not empty: it holds {held} keys. A backup is restored into "
                    "an empty store on which no house runs."
                )
        for each in note.snapshots:
            async with open_scratch(program, backup / each.file, note.database) as scratch:
                copied += await copy_all(scratch, store.primaries)
    return copied
