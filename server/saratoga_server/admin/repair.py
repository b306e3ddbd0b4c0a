"""Repair of the embedded store's damaged files: always on a copy, never on the files themselves.

A store is started on the copy. What it cannot load is left out, from the first damaged place on. The report
says what is recovered and what is missing. The copy gets a generation of its own, and becomes a folder beside
the damaged one.
"""

import asyncio
import datetime
import fcntl
import shutil
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from saratoga_server.admin.census import Census, take_census
from saratoga_server.admin.renumber import renumber
from saratoga_server.app import compose_table_cache
from saratoga_server.embedded_store.append_files import (
    NO_FILES,
    find_damage,
    missing_bytes,
    present_files,
    rewrite,
    sizes,
)
from saratoga_server.embedded_store.append_files import cut as cut_off
from saratoga_server.embedded_store.damaged_files import (
    Cut,
    StoreFiles,
    candidates,
    cuts,
    lay_out,
    of_manifest,
    size,
)
from saratoga_server.embedded_store.ledger_file import (
    LedgerNote,
    read_ledger,
    read_note,
    renew_ledger,
    write_note,
)
from saratoga_server.embedded_store.process import StoreProcess
from saratoga_server.embedded_store.socket_path import open_socket_path, url_of
from saratoga_server.embedded_store.store_folder import refuse_other_user
from saratoga_server.ports import StoreRefused
from saratoga_server.store.clients import opened_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.ledger import LedgerEntry
from saratoga_server.store.opening import open_store

_SETTINGS: Final = {"appendonly": "yes", "appendfsync": "everysec", "aof-load-truncated": "yes"}

NO_ANSWER: Final = "the store on the copy did not answer"


class Repair(Struct, frozen=True):
    """A repaired store, and what it has and lacks."""

    folder: Path | None
    """The folder with the repaired files; `None` if nothing was damaged."""
    stamp: str
    """The time of the repair, as it stands in names of folders."""
    files_are_whole: bool
    """True if the manifest names all files, and a store can load all of them."""
    lost_base: bool
    """True if the snapshot with which the files begin is lost."""
    bytes_left_out: int
    bytes_missing: int
    """The number of bytes that the files have lost since the ledger file was written."""
    known: LedgerNote | None
    """The ledger file; `None` if there is none."""
    found: LedgerEntry
    """The ledger in the repaired store."""
    census: Census

    @property
    def missing_millis(self) -> int | None:
        """The time that servers ran between the newest write found and the newest known; `None` if not known."""
        if self.known is None or not self.found.generation:
            return None
        if self.known.generation != self.found.generation:
            return None
        return max(0, self.known.own - self.found.own)

    @property
    def is_complete(self) -> bool:
        """True if the files are whole, and hold everything that is known to have been written."""
        known, found = self.known, self.found
        is_newest = known is None or (
            found.generation == known.generation and found.sequence >= known.sequence
        )
        return is_newest and self.files_are_whole and not self.census.damaged


class _Loaded(NamedTuple):
    """Files that a store can load."""

    files: StoreFiles
    place: Cut | None
    ledger: LedgerEntry
    bytes_left_out: int


async def repair(folder: Path) -> Repair:
    """Repair a copy of the store's folder, in a new folder beside it; return what it has and lacks.

    Raises `StoreRefused` if a server uses the folder, nothing can be recovered, or the copy cannot be written.
    """
    refuse_other_user(folder)
    try:
        return await _repair(folder)
    except OSError as error:
        at = f": {error.filename}" if error.filename else ""
        raise StoreRefused(
            f"The copy of {folder} cannot be written ({error.strerror or error}{at}). It is made in "
            f"{folder.parent}, and needs as much room as the files. Nothing was changed."
        ) from error


async def _repair(folder: Path) -> Repair:
    if not candidates(folder):
        raise StoreRefused(
            f"{folder} has no files of a store. Give the server's folder with --data, or restore a backup."
        )
    stamp = f"{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}"
    target = folder.with_name(f"{folder.name}.repaired-{stamp}")
    begun = target.with_name(target.name + ".unfinished")
    with _in_use(folder):
        begun.mkdir(mode=0o700)
        try:
            done = await _repaired(folder, begun, stamp)
            if done.is_complete:
                shutil.rmtree(begun)
                return done
            begun.rename(target)
        except BaseException:
            shutil.rmtree(begun, ignore_errors=True)
            raise
    return replace(done, folder=target)


async def _repaired(folder: Path, copy: Path, stamp: str) -> Repair:
    known = await asyncio.to_thread(read_note, folder)
    noted = known.files if known else NO_FILES
    loaded = await _load(folder, noted, copy)
    await asyncio.to_thread(lay_out, folder, copy, loaded.files, loaded.place)
    async with _store_on(copy) as url:
        async with open_store(url, Durability.FAST, trust_store=True, is_guarded=False) as store:
            census = await take_census(store)
            await renumber(store, await compose_table_cache(store))
        async with opened_client(url, NO_ANSWER) as client:
            note = await renew_ledger(client, token_hex(8))
        await rewrite(url)
    await asyncio.to_thread(write_note, copy, replace(note, clean=True, files=present_files(copy)))
    return Repair(
        folder=None,
        stamp=stamp,
        files_are_whole=loaded.files == of_manifest(folder)
        and not loaded.bytes_left_out
        and find_damage(folder, is_known=True, noted=noted, is_clean=bool(known and known.clean))
        is None,
        lost_base=loaded.files.base is None,
        bytes_left_out=loaded.bytes_left_out,
        bytes_missing=sum(missing_bytes(folder, noted).values()),
        known=known,
        found=loaded.ledger,
        census=census,
    )


async def _load(folder: Path, noted: Mapping[str, int], copy: Path) -> _Loaded:
    """Return the files with the newest data that a store can load. Raises `StoreRefused`."""
    best: _Loaded | None = None
    is_manifest_whole = find_damage(folder, is_known=True, noted=NO_FILES) is None
    for files in candidates(folder, noted):
        loaded = await _longest(folder, copy, files)
        if loaded is None:
            continue
        if best is None or loaded.ledger.sequence > best.ledger.sequence:
            best = loaded
        # an old file beside those of the manifest would repeat writes; if the manifest lacks a newer one, the
        # ledger is higher with it
        is_whole = is_manifest_whole or files != of_manifest(folder)
        if files.base is not None and not loaded.bytes_left_out and is_whole:
            break
    if best is None:
        raise StoreRefused(
            f"Nothing can be recovered from {folder}. Restore a backup (deploy/RUNBOOK.md, Restore)."
        )
    return best


async def _longest(folder: Path, copy: Path, files: StoreFiles) -> _Loaded | None:
    """Return the longest part of these files that a store can load; `None` if it can load nothing."""
    whole = await _try(folder, copy, files, None)
    if whole is not None or not files.writes:
        return whole
    places = await asyncio.to_thread(cuts, folder, files)
    # whatever a store can load, it can also load without its last write
    low, high, best = 0, len(places), None
    while low < high:
        # the last place first: a place that is no write is found without a store
        middle = high - 1 if best is None and high == len(places) else (low + high) // 2
        loaded = await _try(folder, copy, files, places[middle])
        if loaded is None:
            high = middle
        else:
            low, best = middle + 1, loaded
    return best


async def _try(folder: Path, copy: Path, files: StoreFiles, place: Cut | None) -> _Loaded | None:
    """Start a store on a part of the files; return what it has, or `None` if it does not start."""
    await asyncio.to_thread(lay_out, folder, copy, files, place)
    laid_out = sizes(copy)
    try:
        async with _store_on(copy) as url, opened_client(url, NO_ANSWER) as client:
            ledger = await read_ledger(client)
    except StoreRefused:
        return None
    kept = sum(laid_out.get(name, 0) for name in files.writes)
    kept -= sum(cut_off(laid_out, sizes(copy)).values())
    return _Loaded(files, place, ledger, size(folder, files) - kept)


@contextmanager
def _in_use(folder: Path) -> Iterator[None]:
    """Keep servers and stores off the folder; raise `StoreRefused` if one is there."""
    with ExitStack() as locked:
        for name in ("server.lock", "store.lock"):
            file = locked.enter_context((folder / name).open("a"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreRefused(f"A server runs on {folder}. Stop it, then repair.") from None
        yield


@asynccontextmanager
async def _store_on(folder: Path) -> AsyncIterator[str]:
    """Run a store on a folder and yield its address; raise `StoreRefused` if it does not start."""
    with (folder / "store.lock").open("a") as lock, open_socket_path(folder) as socket_path:
        store = await StoreProcess.start(folder, socket_path, _SETTINGS, lock)
        try:
            yield url_of(socket_path)
        finally:
            await store.stop()


def put_in_place(folder: Path, repaired: Path, stamp: str) -> Path:
    """Move the damaged folder away and the repaired one into its place; return where the damaged one is."""
    damaged = damaged_name(folder, stamp)
    with _in_use(folder):
        folder.rename(damaged)
        try:
            repaired.rename(folder)
        except OSError:
            damaged.rename(folder)
            raise
    return damaged


def damaged_name(folder: Path, stamp: str) -> Path:
    """Return the name under which a damaged folder is kept."""
    return folder.with_name(f"{folder.name}.damaged-{stamp}")
