"""The ledger file: `ledger.json` beside the embedded store's data, to notice a loss of data.

It holds the newest ledger (`store/guard.py`) that is durable in the store, and whether the store
was shut down in order.
"""

import asyncio
import os
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Final

import msgspec

from saratoga_server.embedded_store.append_files import remedy_for
from saratoga_server.logs import EventLog
from saratoga_server.ports import LedgerEntry, LedgerMemory
from saratoga_server.store.keys import LEDGER

if TYPE_CHECKING:
    from redis.asyncio import Redis

NAME: Final = "ledger.json"
WRITE_EVERY: Final = 15.0
"""Seconds between two writes of the file; each is flushed to the disk."""

_log = EventLog("store")


class LedgerNote(msgspec.Struct, frozen=True):
    """The contents of the file."""

    generation: str
    sequence: int
    clean: bool = False
    """True if the store was shut down in order after its last write."""


def read_note(folder: Path) -> LedgerNote | None:
    """Return the note in a store's folder; `None` if there is none that can be read."""
    try:
        return msgspec.json.decode((folder / NAME).read_bytes(), type=LedgerNote)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        _log.warning("store_ledger_unreadable", file=str(folder / NAME), reason=str(error))
        return None


def write_note(folder: Path, note: LedgerNote) -> None:
    """Replace the note in a store's folder; it is on the disk then. Raises `OSError`."""
    begun = folder / f"{NAME}.new"
    with begun.open("wb") as file:
        file.write(msgspec.json.encode(note) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    begun.replace(folder / NAME)
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


async def renew_ledger(client: "Redis", generation: str) -> LedgerNote:
    """Give the data of a store another generation, after a restore; return its note."""
    await client.hset(LEDGER, "generation", generation)
    return LedgerNote(generation, await client.hincrby(LEDGER, "sequence", 1))


class LedgerFile(LedgerMemory):
    """The ledger file of a running embedded store, which outlives the process."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.remedy = remedy_for(folder)
        self._folder = folder
        self._is_clean = False
        self._written_at = 0.0
        self._lock = asyncio.Lock()

    async def open(self) -> bool:
        """Read the file; return whether the store was shut down in order."""
        note = await asyncio.to_thread(read_note, self._folder)
        if note is not None:
            self.entry, self._is_clean = LedgerEntry(note.generation, note.sequence), note.clean
        return self._is_clean

    async def note_use(self) -> None:
        """Note that the store is in use, before it starts.

        Raises `OSError` if that cannot be noted: after a kill the next start would trust the files.
        """
        if self._is_clean:
            await self._write(clean=False)

    async def close(self, *, clean: bool) -> None:
        """Write what is remembered, and whether the store was shut down in order."""
        if self.entry is not None:
            await self._try_write(clean=clean)

    async def remember(self, entry: LedgerEntry) -> None:
        before, self.entry = self.entry, entry
        is_new = before is None or before.generation != entry.generation
        if is_new or monotonic() >= self._written_at + WRITE_EVERY:
            await self._try_write(clean=False)

    async def _try_write(self, *, clean: bool) -> None:
        try:
            await self._write(clean=clean)
        except OSError as error:
            _log.error("store_ledger_not_written", reason=str(error))

    async def _write(self, *, clean: bool) -> None:
        # a caller that is cancelled leaves the write behind; the next one waits for it
        await asyncio.shield(self._write_in_turn(clean=clean))

    async def _write_in_turn(self, *, clean: bool) -> None:
        async with self._lock:
            assert self.entry is not None, "there is something to write"
            note = LedgerNote(self.entry.generation, self.entry.sequence, clean)
            await asyncio.to_thread(write_note, self._folder, note)
            self._is_clean, self._written_at = clean, monotonic()
