"""The ledger file: `ledger.json` beside the embedded store's data, by which a server notices a loss of data.

It holds the newest ledger (`store/ledger.py`) that is durable in the store, and whether the store was shut
down in order. A store whose own ledger is missing or lower has lost data, and is not served.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec
from redis.asyncio import Redis

from saratoga_server.embedded_store.append_files import remedy_for
from saratoga_server.logs import EventLog
from saratoga_server.store.keys import LEDGER
from saratoga_server.store.ledger import LedgerEntry, entry_of

NAME: Final = "ledger.json"
WRITE_EVERY: Final = 15.0
"""Seconds between two writes of the file; each is flushed to the disk."""

LEDGER_KEY: Final = LEDGER
"""The key of the embedded store's ledger."""

PROCESS: Final = "embedded"
"""The word of the server in the embedded store's ledger; one server at a time raises it."""

_log = EventLog("store")


class LedgerNote(msgspec.Struct, frozen=True):
    """The contents of the file."""

    generation: str
    sequence: int
    at: int
    """The newest time stored, in milliseconds since 1970 by the store's clock."""
    own: int = 0
    """The milliseconds that servers had run on this store."""
    clean: bool = False
    """True if the store was shut down in order after its last write."""

    @property
    def entry(self) -> LedgerEntry:
        return LedgerEntry(self.generation, self.sequence, self.at, self.own)


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
    """Replace the note in a store's folder; it is on the disk when this returns. Raises `OSError`."""
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


async def read_ledger(client: "Redis") -> LedgerEntry:
    """Return the ledger in an embedded store; its generation is empty if the store has none."""
    return entry_of(
        *await client.hmget(LEDGER_KEY, ["generation", "sequence", "at", f"node:{PROCESS}"])
    )


async def renew_ledger(client: "Redis", generation: str) -> LedgerNote:
    """Give the data of a store another generation, after they were restored; return the note for it."""
    await client.hset(LEDGER_KEY, "generation", generation)
    await client.hincrby(LEDGER_KEY, "sequence", 1)
    entry = await read_ledger(client)
    return LedgerNote(entry.generation, entry.sequence, entry.at, entry.own)


class LedgerFile:
    """The ledger file of a running embedded store: a `LedgerMemory` that outlives the process."""

    process: Final = PROCESS

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._note: LedgerNote | None = None
        self._written_at = 0.0
        self._started = monotonic()
        self._ran_before = 0
        self._lock = asyncio.Lock()

    @property
    def remedy(self) -> str:
        return remedy_for(self._folder)

    async def open(self) -> bool:
        """Read the file; return whether the store was shut down in order."""
        self._note = await asyncio.to_thread(read_note, self._folder)
        if self._note is None:
            return False
        self._ran_before = self._note.own
        return self._note.clean

    async def note_use(self) -> None:
        """Note that the store is in use, before it starts.

        Raises `OSError` if that cannot be noted: after a kill the next start would trust the files.
        """
        if self._note is not None and self._note.clean:
            await self._write(clean=False)

    async def close(self, *, clean: bool) -> None:
        """Write what is remembered, and whether the store was shut down in order."""
        if self._note is not None:
            await self._try_write(clean=clean)

    def uptime(self) -> int:
        """Return the milliseconds that this server and earlier ones have run on the store; at least 1."""
        return self._ran_before + int((monotonic() - self._started) * 1000) + 1

    def recall(self) -> Mapping[str, LedgerEntry]:
        return {LEDGER_KEY: self._note.entry} if self._note is not None else {}

    async def remember(self, entries: Mapping[str, LedgerEntry]) -> None:
        before, entry = self._note, entries.get(LEDGER_KEY)
        if entry is None:
            return
        self._note = LedgerNote(entry.generation, entry.sequence, entry.at, entry.own)
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
            assert self._note is not None, "there is something to write"
            self._note = msgspec.structs.replace(self._note, clean=clean)
            await asyncio.to_thread(write_note, self._folder, self._note)
            self._written_at = monotonic()
