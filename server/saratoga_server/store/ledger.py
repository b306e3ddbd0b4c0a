"""The ledger: by which a node notices that its store has lost writes, or is another store.

The store has a ledger (`keys.LEDGER`): a random `generation`, a `sequence` that every node raises every few
seconds, and `at`, the store's time when it was raised last, which never falls, and rises no faster than time passes. A node remembers what it has raised once that
write is durable. A store with another generation, or with a lower sequence, does not have everything that the node has
written.

Several nodes raise the same sequence, so the raises of one would hide that another one's are missing. Therefore
each process also has a field of its own, with the time it had run. How much is lost is known from that, whatever the
clocks show.
"""

from collections.abc import Collection, Mapping
from secrets import token_hex
from time import monotonic, time
from typing import Final, Protocol

from msgspec import Struct
from redis.exceptions import ResponseError

from saratoga_server.messages.packing import pack
from saratoga_server.ports import Millis
from saratoga_server.store.clients import Primary
from saratoga_server.store.confirmations import confirmation_commands, is_confirmed
from saratoga_server.store.errors import is_function_missing
from saratoga_server.store.keys import CLOCKS_WITHIN, LEDGER
from saratoga_server.store.library import function_name

LOSS_TOLERATED: Final = 60_000
"""Milliseconds of lost writes that a crash or a failover may explain; more means older data."""

FIELD_REMOVED_AFTER: Final = 86_400_000
"""Milliseconds without a raise after which a process's own field may be removed (`DAY_MS` in ledger.lua)."""


class LedgerEntry(Struct, frozen=True):
    """One ledger, as it was read or raised."""

    generation: str
    """A random word; empty if the store has no such ledger."""
    sequence: int
    at: int
    """The newest time at which the ledger was raised, in milliseconds since 1970 by the store's clock."""
    own: int = 0
    """The milliseconds that this process had run when it raised the ledger last; 0 if it has no field in it."""


NO_LEDGER: Final = LedgerEntry("", 0, 0)


def entry_of(
    generation: bytes | str | None,
    sequence: bytes | str | int | None,
    at: bytes | str | int | None,
    own: bytes | str | int | None = None,
) -> LedgerEntry:
    """Return a ledger from its fields in the store, which may be missing."""
    word = generation.decode() if isinstance(generation, bytes) else generation
    return LedgerEntry(word or "", int(sequence or 0), int(at or 0), int(own or 0))


Entries = Mapping[str, LedgerEntry]
"""Ledgers by key."""


class LedgerMemory(Protocol):
    """What a node remembers of the ledgers of its store."""

    @property
    def remedy(self) -> str:
        """Sentences that say what to do about a store that has other data."""
        ...

    @property
    def process(self) -> str:
        """The word under which this process raises ledgers; empty if it is the only one that does."""
        ...

    def uptime(self) -> int:
        """Return for how many milliseconds the process has run, at least 1."""
        ...

    def recall(self) -> Entries: ...

    async def remember(self, entries: Entries) -> None:
        """Remember ledgers whose writes are durable; others are kept."""
        ...


class ProcessMemory:
    """What a process remembers of an external store: nothing before its start."""

    remedy = "Restore the data. Or restart every server, to go on with the store as it is now."

    def __init__(self) -> None:
        self.process: Final = token_hex(8)
        self._started = monotonic()
        self._entries: dict[str, LedgerEntry] = {}

    def uptime(self) -> int:
        return int((monotonic() - self._started) * 1000) + 1

    def recall(self) -> Entries:
        return self._entries

    async def remember(self, entries: Entries) -> None:
        self._entries |= entries


class LostWrites(Struct, frozen=True):
    """A store that has not everything that a node has written."""

    remembered: LedgerEntry
    found: LedgerEntry
    millis: int
    """The time whose writes are lost."""

    @property
    def is_tolerated(self) -> bool:
        """True if the loss may be that of a crash or a failover, and the store is served."""
        same = self.found.generation == self.remembered.generation
        return same and self.millis <= LOSS_TOLERATED

    @property
    def sentence(self) -> str:
        if not self.found.generation:
            return "The store does not have the data of this server: it is empty, or another store."
        if self.found.generation != self.remembered.generation:
            return "The store has other data than this server has worked with."
        return (
            "The store has older data: it lacks at least the last "
            f"{self.millis // 1000} s of what this server has written."
        )


def compare(
    remembered: LedgerEntry | None, found: LedgerEntry, millis: int | None = None
) -> LostWrites | None:
    """Return what a store has lost, if anything; `remembered` is `None` for a store that is new to the node.

    `millis`: the time whose writes are lost, if that is known from other ledgers.
    """
    if remembered is None:
        return None
    same = found.generation == remembered.generation
    if same and found.sequence >= remembered.sequence and found.own >= remembered.own:
        return None
    lost = _millis_lost([remembered], [found]) if millis is None else millis
    return LostWrites(remembered, found, lost)


def _is_tidied(remembered: LedgerEntry, found: LedgerEntry, now: Millis) -> bool:
    """Return True if a ledger lacks nothing but the field of a process that was paused for more than a day."""
    is_removed = not found.own and now - remembered.at > FIELD_REMOVED_AFTER
    same = found.generation == remembered.generation
    return is_removed and same and found.sequence >= remembered.sequence


def _millis_lost(remembered: Collection[LedgerEntry], found: Collection[LedgerEntry]) -> int:
    """Return how much older the newest of some ledgers is than it was."""
    return max(entry.own for entry in remembered) - max(entry.own for entry in found)


class StoreReading(Struct, frozen=True):
    """The store's clock and ledger at one moment, before this node raises the ledger."""

    now: Millis
    entries: Entries
    newest_raised: Millis = Millis(0)
    """The newest time that this node has stored in any ledger; 0 before its first."""

    @property
    def newest(self) -> Millis:
        """The newest time that is stored; 0 in a new store."""
        return Millis(max((entry.at for entry in self.entries.values()), default=0))


class Ledger:
    """The reader and writer of the ledgers of a store."""

    def __init__(
        self, primary: Primary, memory: LedgerMemory, *, replicated: bool, on_disk: bool
    ) -> None:
        """`replicated`: a write is durable once a replica has it, `on_disk`: on its disk."""
        self._primary = primary
        self._replicated = replicated
        self._on_disk = on_disk
        self.memory = memory
        self._first: tuple[Millis, float] | None = None
        """The time of the store's clock when it was accepted first, and this process's monotonic time then."""
        self._new_generation = token_hex(8)
        self._seen: set[str] = set()
        """The ledgers that this process has read before."""

    async def read(self) -> StoreReading:
        """Read clock and ledger of the store, without retries."""
        own_field = f"node:{self.memory.process}"
        pipeline = self._primary.client.pipeline(transaction=False)
        pipeline.time()
        pipeline.hmget(LEDGER, ["generation", "sequence", "at", own_field])
        (seconds, micros), fields = await pipeline.execute()
        now = Millis(seconds * 1000 + micros // 1000)
        raised = (entry.at for entry in self.memory.recall().values())
        return StoreReading(now, {LEDGER: entry_of(*fields)}, Millis(max(raised, default=0)))

    def _latest(self, reading: StoreReading) -> Millis:
        """Return the latest time that is taken from the store's clock.

        A clock that is ahead of this machine's, or that was set forward, must not become the newest time stored.
        """
        if self._first is None:
            self._first = (reading.now, monotonic())
        first, since = self._first
        expected = first + int((monotonic() - since) * 1000)
        return Millis(min(int(time() * 1000), expected) + CLOCKS_WITHIN)

    def losses(self, reading: StoreReading) -> list[LostWrites]:
        """Return what the store has lost since this node raised its ledger."""
        memory = self.memory.recall()
        known = {key: memory[key] for key in reading.entries if key in memory}
        if not known:
            return []
        millis = _millis_lost(known.values(), reading.entries.values())
        compared = (
            compare(entry, reading.entries[key], millis)
            for key, entry in known.items()
            if not _is_tidied(entry, reading.entries[key], reading.now)
        )
        return [loss for loss in compared if loss is not None]

    async def raise_(self, reading: StoreReading) -> None:
        """Raise the ledgers that were read, and remember them if that write is durable.

        A ledger that was replaced meanwhile is left alone; the next reading shows it. So is one that others raise,
        when it is read first: a server that fails at each start leaves no fields behind.
        """
        entries = {
            key: entry
            for key, entry in reading.entries.items()
            if key in self._seen or entry.own or not entry.generation
        }
        self._seen.update(reading.entries)
        if entries:
            await self._raise(reading, entries)

    async def _raise(self, reading: StoreReading, entries: Entries) -> None:
        keys = list(entries)
        known = [
            word for key, entry in entries.items() for word in (key, entry.generation, entry.own)
        ]
        pipeline = self._primary.client.pipeline(transaction=False)
        own = self.memory.uptime()
        call = pack((self._new_generation, self.memory.process, own, self._latest(reading), known))
        pipeline.execute_command("FCALL", function_name("raise_ledgers"), 0, call)
        if self._replicated:
            for command in confirmation_commands(on_disk=self._on_disk):
                pipeline.execute_command(*command)
        answer, *replies = await pipeline.execute(raise_on_error=False)
        if isinstance(answer, ResponseError) and is_function_missing(answer):
            return  # the next command of the server loads the Functions
        if isinstance(answer, Exception):
            raise answer
        if self._replicated and not is_confirmed(replies):
            return
        raised = {
            key: LedgerEntry(fields[0].decode(), fields[1], fields[2], own)
            for key, fields in zip(keys, answer, strict=True)
            if fields is not None
        }
        await self.memory.remember(raised)
