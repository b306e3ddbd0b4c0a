"""The ledger: by which a node notices that its store is another one, or has lost writes.

The store has a ledger (`keys.LEDGER`): the `format` of its data, a random `generation`, which new
and restored data get, and a `sequence`, which every node raises every few seconds. A node remembers
what it has raised once that write is durable. A store with another generation is another store. One
with a lower sequence has lost writes.
"""

from datetime import UTC, datetime
from secrets import token_hex
from typing import Final, Protocol

from msgspec import Struct

from saratoga_server.ports import Millis
from saratoga_server.store.clients import Primary, confirmation_commands, is_confirmed
from saratoga_server.store.keys import FORMER_LEDGER, LEDGER

STORE_FORMAT: Final = 2
"""The layout of the store. A higher number: older data cannot be read."""

RELEASED: Final = Millis(1_767_225_600_000)
"""The beginning of 2026, before which this release did not exist, in milliseconds since 1970."""

FIELDS: Final = ("generation", "sequence", "format")


class LedgerEntry(Struct, frozen=True):
    """The ledger, as it was read or raised."""

    generation: str = ""
    """A random word; empty if the store has no ledger."""
    sequence: int = 0
    format: int = STORE_FORMAT


class LedgerMemory(Protocol):
    """What a node remembers of the ledger of its store."""

    @property
    def remedy(self) -> str:
        """Sentences that say what to do about a store that has other data."""
        ...

    def recall(self) -> LedgerEntry | None:
        """Return the newest ledger that is durable; `None` if the store is new to the node."""
        ...

    async def remember(self, entry: LedgerEntry) -> None:
        """Remember a ledger whose write is durable."""
        ...


class ProcessMemory:
    """What a process remembers of an external store: nothing before its start."""

    remedy = "Restore the data. Or restart every server, to go on with the store as it is now."

    def __init__(self) -> None:
        self._entry: LedgerEntry | None = None

    def recall(self) -> LedgerEntry | None:
        return self._entry

    async def remember(self, entry: LedgerEntry) -> None:
        self._entry = entry


class Ledger:
    """The reader and writer of the ledger of a store."""

    def __init__(self, primary: Primary, memory: LedgerMemory) -> None:
        self._primary = primary
        self.memory = memory

    async def read(self) -> tuple[Millis, LedgerEntry]:
        """Return the store's time and its ledger, without retries."""
        pipeline = self._primary.client.pipeline(transaction=False)
        pipeline.time()
        pipeline.hmget(LEDGER, FIELDS)
        pipeline.exists(FORMER_LEDGER)
        (seconds, micros), (generation, sequence, layout), is_old = await pipeline.execute()
        now = Millis(seconds * 1000 + micros // 1000)
        if generation is None:
            return now, LedgerEntry(format=1 if is_old else STORE_FORMAT)
        return now, LedgerEntry(generation.decode(), int(sequence or 0), int(layout or 1))

    def why_refused(self, now: Millis, found: LedgerEntry, known: LedgerEntry | None) -> str | None:
        """Return why a store with this time and ledger must not be used; `None` if it may be.

        `known`: what this node remembered before it read the ledger.
        """
        if now < RELEASED:
            shown = datetime.fromtimestamp(now / 1000, UTC)
            return (
                f"The store's clock is wrong: it shows {shown:%Y-%m-%d %H:%M:%S} UTC, when this release did "
                "not exist. Set the clock of the store's machine."
            )
        if found.format != STORE_FORMAT:
            return (
                "Another release of saratoga-server has written this store, in a format that this release does "
                "not read. Start that release, or give another folder (--data) or store (--redis)."
            )
        if known is None or found.generation == known.generation:
            return None
        if not found.generation:
            what = "The store does not have the data of this server: it is empty, or another store."
        else:
            what = "The store has other data than this server has worked with."
        return f"{what} {self.memory.remedy}"

    async def raise_(self, found: LedgerEntry) -> None:
        """Raise the ledger that was read, and remember it if that write is durable."""
        pipeline = self._primary.client.pipeline(transaction=False)
        pipeline.hsetnx(LEDGER, "format", STORE_FORMAT)
        if found.generation:  # a store that was emptied since then gets no new one
            pipeline.hexists(LEDGER, "generation")
        else:
            pipeline.hsetnx(LEDGER, "generation", token_hex(8))
        pipeline.hincrby(LEDGER, "sequence", 1)
        pipeline.hget(LEDGER, "generation")
        replicas = self._primary.confirmations
        for command in confirmation_commands(replicas):
            pipeline.execute_command(*command)
        _, _, sequence, generation, *replies = await pipeline.execute()
        if generation is None:
            return
        word = generation.decode()
        # another store may have come to the address since: the next reading shows it
        if found.generation in ("", word) and is_confirmed(replies, replicas):
            await self.memory.remember(LedgerEntry(word, sequence))
