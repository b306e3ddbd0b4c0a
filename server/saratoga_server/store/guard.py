"""The store guard: decides, again and again, whether the store may be used.

A store that was fit at the start can change: an operator sets `appendfsync no`, or another store is
started at its address. The guard checks settings and ledger every `CHECK_EVERY` seconds, and before
each new connection for commits. While it refuses the store, commits and commands wait as they do
for a store that does not answer, and fail with `StoreUnavailable` and the reason. Moves that were
acknowledged between the change and its discovery are not protected: that is at most `CHECK_EVERY`
seconds and the time of a check.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Final

from redis.exceptions import RedisError

from saratoga_server.cancellation import pause
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.clients import STORE_TIMEOUT, Primary
from saratoga_server.store.durability import Durability
from saratoga_server.store.ledger import Ledger, LedgerEntry, LedgerMemory
from saratoga_server.store.preflight import ANSWER_WITHIN, check_client

CHECK_EVERY: Final = 3.0
"""Seconds between two checks of the store."""
RAISED_WITHIN: Final = 4.0
"""Seconds to raise the ledger, including the wait for a replica."""
_OPENING_PAUSE: Final = 0.05
"""Seconds between two attempts to check a store that is just starting."""

_log = EventLog("store")


class StoreGuard:
    """The guard of one store; `StoreClient` and the commits obey it."""

    def __init__(
        self,
        primary: Primary,
        ledger: Ledger,
        durability: Durability,
        *,
        trust: bool,
        on_refused: Callable[[str], None],
        on_lost: Callable[[], None],
    ) -> None:
        """`on_refused` is called with the reason when the store is refused, before anything waits.

        `on_lost` is called when the store has lost writes that were acknowledged.
        """
        self._primary = primary
        self._ledger = ledger
        self._durability = durability
        self._trust = trust
        self._on_refused = on_refused
        self._on_lost = on_lost
        self._running: asyncio.Task[None] | None = None
        """The check that is under way; the task of no caller, who may be cancelled."""
        self._has_answered = False
        """True if the last check of the store had an answer."""
        self.why_refused: str | None = None
        """Why the store must not be used now, as sentences for the log; `None` if it may be."""
        self._found: LedgerEntry | None = None
        """The ledger as it was last read."""
        self._doubts = self._cleared = 0
        """How often the store may have become another, and the last time cleared."""
        self._reported: str | None = None
        self._has_written = True
        """Whether writes may have been acknowledged since the ledger was raised last."""

    def note_write(self) -> None:
        """Let the next check raise the ledger: this node writes. An idle server writes nothing."""
        self._has_written = True

    @property
    def memory(self) -> LedgerMemory:
        """What this node remembers of the ledger."""
        return self._ledger.memory

    async def admit(self) -> None:
        """Return if the store may be used; raise `StoreUnavailable` with the reason if not.

        After the connection for commits was lost, this checks the store first.
        If a further connection is opened meanwhile, it checks again.
        """
        doubts = -1
        while self._is_in_doubt and doubts != self._doubts:
            doubts = self._doubts
            await self._check()
        if (reason := self.why_refused) is not None:
            raise StoreUnavailable(reason)
        if self._is_in_doubt:
            raise StoreUnavailable("the store does not answer")

    async def admit_connection(self) -> None:
        """Check the store before a new connection for commits. Raises `StoreUnavailable`."""
        self._doubts += 1
        has_answered = await self._check()
        if (reason := self.why_refused) is not None:
            raise StoreUnavailable(reason)
        if not has_answered:
            raise StoreUnavailable(f"{self._primary.name} does not answer")

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
            try:
                await self.check()
            except Exception as fault:  # after any error, check again
                _log.error("store_check_failed", fault=fault)

    async def close(self) -> None:
        """Wait for the check that is under way."""
        if self._running is not None:
            await asyncio.wait([self._running])

    async def check(self) -> bool:
        """Check the store, raise its ledger if it may be used; return whether it answered."""
        has_answered = await self._check()
        if self._has_written and self.why_refused is None and has_answered and self._found:
            self._has_written = False
            await self._raise(self._found)
        return has_answered

    async def _raise(self, found: LedgerEntry) -> None:
        """Raise the ledger that the last check has read. It may wait for a replica."""
        # the ledger was as it should be; what fails now, the next check does again
        try:
            async with asyncio.timeout(RAISED_WITHIN):
                await self._ledger.raise_(found)
        except (RedisError, OSError, TimeoutError):
            self._has_written = True
        except Exception as fault:  # after any error, raise again
            self._has_written = True
            _log.error("store_check_failed", fault=fault)

    async def _check(self) -> bool:
        """Check the store; concurrent callers share it. Return whether it has answered."""
        if self._running is not None:
            await asyncio.wait([self._running])
        if self._running is None:
            self._running = asyncio.create_task(self._check_now())
        await asyncio.wait([self._running])
        return self._has_answered

    async def _check_now(self) -> None:
        doubts = self._doubts
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                self.why_refused = await self._find_fault()
                self._has_answered = True
                self._cleared = doubts
        except (StoreUnavailable, RedisError, OSError, TimeoutError):
            # nothing is known about a store that does not answer, and nothing can be written to it
            self._has_answered = self.why_refused is not None
        except (
            Exception
        ) as fault:  # after any error, check again; until then the store is not known to be fit
            _log.error("store_check_failed", fault=fault)
            self._has_answered = True
            self.why_refused = (
                f"The check of the store failed ({type(fault).__name__}: {fault}). It is repeated every "
                f"{CHECK_EVERY:.0f} s. If it goes on failing, correct the cause, and restart the server."
            )
        finally:
            self._running = None
            self._report()

    @property
    def _is_in_doubt(self) -> bool:
        """True after the connection for commits was lost, until a later check."""
        return self._cleared != self._doubts

    async def _find_fault(self) -> str | None:
        """Return why the store must not be used; `None` if it may be."""
        try:
            await check_client(self._primary.client, self._durability, trust=self._trust)
        except StoreRefused as refused:
            return str(refused)
        # what this node raises while it reads may be missing in what it reads
        known = self._ledger.memory.recall()
        now, found = await self._ledger.read()
        self._found = found
        if reason := self._ledger.why_refused(now, found, known):
            return reason
        if known is not None and found.sequence < known.sequence:
            # at level `fast` a store may lose what it acknowledged in its last second
            log = _log.warning if self._durability is Durability.FAST else _log.error
            log("store_lost_writes", store=self._primary.name)
            await self._ledger.memory.remember(found)
            self._on_lost()
        return None

    def _report(self) -> None:
        """Log when the store is refused and when it is accepted again."""
        reason, before = self.why_refused, self._reported
        self._reported = reason
        if reason is None:
            if before is not None:
                _log.info("store_accepted")
            return
        # a reason may hold the present time
        if before is None or _without_numbers(before) != _without_numbers(reason):
            _log.error("store_refused", reason=reason)
            self._on_refused(reason)


def _without_numbers(reason: str) -> str:
    return re.sub(r"\d", "", reason)
