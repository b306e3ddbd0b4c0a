"""The store guard: decides, again and again, whether the store may be used.

A store that was fit at the start can change: an operator sets `appendfsync no`, or another store is
started at its address. The guard checks settings and ledger every `CHECK_EVERY` seconds, and before
each new connection for commits. While it refuses the store, commits and commands wait as they do
for a store that does not answer, and fail with `StoreUnavailable` and the reason.

The ledger (`keys.LEDGER`) holds the `format` of the store's data, a random `generation`, which new
and restored data get, and a `sequence`, which every node that writes raises. A node remembers what
it has raised once that write is durable. A store with another generation is another store. One with
a lower sequence has lost writes.
"""

import asyncio
from collections.abc import Callable
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from saratoga_server.background_tasks import pause
from saratoga_server.logs import EventLog
from saratoga_server.ports import (
    STORE_FORMAT,
    Durability,
    LedgerEntry,
    LedgerMemory,
    Millis,
    StoreRefused,
    StoreUnavailable,
)
from saratoga_server.store.client import (
    STORE_TIMEOUT,
    Primary,
    confirmation_commands,
    is_confirmed,
)
from saratoga_server.store.keys import FORMER_LEDGER, LEDGER
from saratoga_server.store.preflight import ANSWER_WITHIN, check_client

if TYPE_CHECKING:
    from saratoga_server.store.commits import Commits

CHECK_EVERY: Final = 3.0
"""Seconds between two checks of the store."""
RAISED_WITHIN: Final = 4.0
"""Seconds to raise the ledger, including the wait for replicas."""
_OPENING_PAUSE: Final = 0.05
"""Seconds between two attempts to check a store that is just starting."""

RELEASED: Final = Millis(1_767_225_600_000)
"""The beginning of 2026, before which this release did not exist, in milliseconds since 1970."""

_NOTHING_KNOWN: Final = (StoreUnavailable, RedisError, OSError, TimeoutError)
"""Errors of a store that does not answer: nothing can be written to it either."""

_log = EventLog("store")


class StoreGuard:
    """The guard of one store; `StoreClient` and the commits obey it."""

    def __init__(
        self,
        primary: Primary,
        memory: LedgerMemory,
        durability: Durability,
        *,
        trust: bool,
        on_refused: Callable[[str], None],
        on_lost: Callable[[], None],
    ) -> None:
        """`trust`: accept a store that does not show its settings.

        `on_refused` is called with the reason when the store is refused, before anything waits;
        `on_lost` when the store has lost writes that were acknowledged.
        """
        self._primary = primary
        self._memory = memory
        self._durability = durability
        self._trust = trust
        self._on_refused = on_refused
        self._on_lost = on_lost
        self.commits: Commits | None = None
        """The commits that are written to the store."""
        self._lock = asyncio.Lock()
        self.why_refused: str | None = None
        """Why the store must not be used now, as sentences for the log; `None` if it may be."""
        self._doubts = 0
        """How often the store may have become another: the connection for commits was lost."""
        self._cleared = 0
        """The doubts that a check has cleared."""
        self._has_written = True
        """Whether writes may have been acknowledged since the ledger was raised last."""

    def note_write(self) -> None:
        """Let the next check raise the ledger: this node writes. An idle server writes nothing."""
        self._has_written = True

    async def admit(self) -> None:
        """Return if the store may be used; raise `StoreUnavailable` with the reason if not.

        After a `doubt` this checks the store first.
        """
        if self._cleared != self._doubts:
            async with self._lock:
                if self._cleared != self._doubts:  # no other caller has checked it meanwhile
                    await self._check()
        if (reason := self.why_refused) is not None:
            raise StoreUnavailable(reason)
        if self._cleared != self._doubts:
            raise StoreUnavailable(f"{self._primary.name} does not answer")

    def doubt(self) -> None:
        """Let nothing be admitted before the store is checked again: it may have become another."""
        self._doubts += 1

    async def open(self) -> None:
        """Check the store for the first time. Raises `StoreRefused` or `StoreUnavailable`."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + STORE_TIMEOUT
        while not await self.check():
            if clock() > deadline:
                raise StoreUnavailable("the store does not answer")
            await asyncio.sleep(_OPENING_PAUSE)
        if (reason := self.why_refused) is not None:
            raise StoreRefused(reason)

    async def keep(self) -> None:
        """Check the store every `CHECK_EVERY` seconds until cancelled."""
        while True:
            await pause(CHECK_EVERY)
            await self.check()

    async def check(self) -> bool:
        """Check the store, raise its ledger if it may be used; return whether it answered."""
        async with self._lock:
            found = await self._check()
        if self.commits is not None and self.commits.has_written:
            self._has_written, self.commits.has_written = True, False
        if found is not None and self._has_written and self.why_refused is None:
            self._has_written = False
            try:
                async with asyncio.timeout(RAISED_WITHIN):
                    await self._raise(found)
            except Exception as fault:
                self._has_written = True  # the next check does it again
                if not isinstance(fault, _NOTHING_KNOWN):
                    _log.error("store_check_failed", fault=fault)
        return found is not None

    async def _check(self) -> LedgerEntry | None:
        """Check the store; return its ledger, or `None` if it does not answer."""
        doubts, before = self._doubts, self.why_refused
        found: LedgerEntry | None = LedgerEntry()
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                self.why_refused, found = await self._find_fault()
            self._cleared = doubts
        except _NOTHING_KNOWN:
            found = None
        except Exception as fault:  # until a later check the store is not known to be fit
            _log.error("store_check_failed", fault=fault)
            self.why_refused = (
                f"The check of the store failed ({type(fault).__name__}: {fault}). It is repeated "
                f"every {CHECK_EVERY:.0f} s. If it goes on failing, correct the cause, and restart "
                "the server."
            )
        if self.why_refused is None:
            if before is not None:
                _log.info("store_accepted")
        elif self.why_refused != before:
            _log.error("store_refused", reason=self.why_refused)
            self._on_refused(self.why_refused)
        return found

    async def _find_fault(self) -> tuple[str | None, LedgerEntry]:
        """Return why the store must not be used, or `None` if it may be, and its ledger."""
        try:
            await check_client(self._primary.client, self._durability, trust=self._trust)
        except StoreRefused as refused:
            return str(refused), LedgerEntry()
        # what this node raises while it reads may be missing in what it reads
        known = self._memory.entry
        now, found = await self._read()
        if reason := self._why_refused(now, found, known):
            return reason, found
        if known is not None and found.sequence < known.sequence:
            # at level `fast` a store may lose what it acknowledged in its last second
            log = _log.warning if self._durability is Durability.FAST else _log.error
            log("store_lost_writes", store=self._primary.name)
            await self._memory.remember(found)
            self._on_lost()
        return None, found

    def _why_refused(
        self, now: Millis, found: LedgerEntry, known: LedgerEntry | None
    ) -> str | None:
        """Return why a store with this time and ledger must not be used; `None` if it may be."""
        if now < RELEASED:
            return (
                "The store's clock is wrong: it shows a time at which this release did not exist. "
                "Set the clock of the store's machine."
            )
        if found.format != STORE_FORMAT:
            return (
                "Another release of saratoga-server has written this store, in a format that this "
                "release does not read. Start that release, or give another folder (--data) or "
                "store (--redis)."
            )
        if known is None or found.generation == known.generation:
            return None
        if not found.generation:
            what = "The store does not have the data of this server: it is empty, or another store."
        else:
            what = "The store has other data than this server has worked with."
        return f"{what} {self._memory.remedy}"

    async def _read(self) -> tuple[Millis, LedgerEntry]:
        """Return the store's time and its ledger, without retries."""
        pipeline = self._primary.client.pipeline(transaction=False)
        pipeline.time()
        pipeline.hmget(LEDGER, ("generation", "sequence", "format"))
        pipeline.exists(FORMER_LEDGER)
        (seconds, micros), (generation, sequence, layout), is_old = await pipeline.execute()
        now = Millis(seconds * 1000 + micros // 1000)
        if generation is None:
            return now, LedgerEntry(format=1 if is_old else STORE_FORMAT)
        return now, LedgerEntry(generation.decode(), int(sequence or 0), int(layout or 1))

    async def _raise(self, found: LedgerEntry) -> None:
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
            await self._memory.remember(LedgerEntry(word, sequence))
