"""The store guard: decides, again and again, whether the store may be used.

A store that was fit at the start can change: an operator sets `appendfsync no`, or another store is started
at its address. The guard checks settings, ledger and clock every `CHECK_EVERY` seconds, and before each new
connection for commits. While it refuses the store, commits and commands wait as they do for a store that
does not answer, and fail with `StoreUnavailable` and the reason. Moves that were acknowledged between the
change and its discovery are not protected: that is at most `CHECK_EVERY` seconds and the time of a check.
"""

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Final

from redis.exceptions import RedisError

from saratoga_server.cancellation import pause
from saratoga_server.logs import EventLog
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.store.durability import Durability
from saratoga_server.store.ledger import Ledger, LedgerMemory, StoreReading
from saratoga_server.store.preflight import ANSWER_WITHIN, check_client
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store_timeout import STORE_TIMEOUT

CHECK_EVERY: Final = 3.0
"""Seconds between two checks of the store."""
RAISED_WITHIN: Final = 4.0
"""Seconds to raise the ledgers of a primary, including the wait for a replica."""
_OPENING_PAUSE: Final = 0.05
"""Seconds between two attempts to check a store that is just starting."""

Check = Callable[[StoreReading], str | None]
"""A function that returns why a primary must not be used, as sentences with the remedy; `None` if it may be."""

_log = EventLog("store")


class StoreGuard:
    """The guard of one store; `StoreClient` and the commits obey it."""

    def __init__(
        self,
        primaries: Primaries,
        ledger: Ledger,
        durability: Durability,
        *,
        trust: bool,
        on_refused: Callable[[str], None],
        checks: Sequence[Check] = (),
    ) -> None:
        """`on_refused` is called with the reason when the store is refused, before anything waits."""
        self._primaries = primaries
        self._ledger = ledger
        self._durability = durability
        self._trust = trust
        self._on_refused = on_refused
        self._checks = checks
        self._running: dict[Primary, asyncio.Task[None]] = {}
        """The check of each primary that is under way; the task of no caller, who may be cancelled."""
        self._faults: dict[Primary, str | None] = {}
        """The result of the last check of each primary that has answered."""
        self._runs: dict[Primary, tuple[str, int]] = {}
        """The run of each primary, and the slot map's revision, whose ledgers were all checked."""
        self._read_runs: dict[Primary, tuple[str, int]] = {}
        """The same, of the last reading."""
        self.readings: dict[Primary, StoreReading] = {}
        """The last reading of each primary's clock and ledgers."""
        self._doubts = self._cleared = 0
        """How often another store may have come to the address, and the last time that a check has cleared."""
        self._reported: str | None = None

    @property
    def why_refused(self) -> str | None:
        """Why the store must not be used now, as sentences for the log and `/readyz`; `None` if it may be."""
        for primary in self._primaries.all():
            if reason := self._faults.get(primary):
                return reason
        return None

    @property
    def memory(self) -> LedgerMemory:
        """What this node remembers of the ledgers."""
        return self._ledger.memory

    async def admit(self) -> None:
        """Return if the store may be used; raise `StoreUnavailable` with the reason if not.

        After the connection for commits was lost, this checks the store first: another store may be there.
        If a further connection is opened meanwhile, it checks again.
        """
        doubts = -1
        while self._is_in_doubt and doubts != self._doubts:
            doubts = self._doubts
            await self._check_all()
        if (reason := self.why_refused) is not None:
            raise StoreUnavailable(reason)
        if self._is_in_doubt:
            raise StoreUnavailable("the store does not answer")

    async def admit_connection(self, primary: Primary) -> None:
        """Check a primary before a new connection for commits; raise `StoreUnavailable` if it may not be used."""
        # The primaries of a cluster are checked one by one: one of them being down does not stop the others.
        self._doubts += not self._primaries.is_cluster
        has_answered = await self._check(primary)
        if (reason := self.why_refused) is not None:
            raise StoreUnavailable(reason)
        if not has_answered:
            raise StoreUnavailable(f"{primary.name} does not answer")

    async def open(self) -> None:
        """Check the store for the first time. Raises `StoreRefused`, or `StoreUnavailable` without an answer."""
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
        """Wait for the checks that are under way."""
        if self._running:
            await asyncio.wait(self._running.values())

    async def check(self) -> bool:
        """Check every primary, and raise the ledgers of those that may be used; return whether one has answered."""
        has_answered = await self._check_all()
        if self.why_refused is None:
            await asyncio.gather(*map(self._raise, self._primaries.all()))
        return has_answered

    async def _check_all(self) -> bool:
        answered = await asyncio.gather(*map(self._check, self._primaries.all()))
        return any(answered)

    async def _raise(self, primary: Primary) -> None:
        """Raise the ledgers that the last check has read. At level `replicated` that may wait for a replica."""
        reading = self.readings.get(primary)
        if reading is None or primary not in self._faults:
            return
        run = self._read_runs[primary]
        # the ledgers were as they should be; what fails now, the next check does again
        try:
            async with asyncio.timeout(RAISED_WITHIN):
                if await self._ledger.raise_(primary, reading):
                    self._runs[primary] = run
        except (RedisError, OSError, TimeoutError):
            pass
        except Exception as fault:  # after any error, raise again
            _log.error("store_check_failed", fault=fault)

    async def _check(self, primary: Primary) -> bool:
        """Check a primary by a check that begins now; concurrent callers share it. Return whether it has answered."""
        if (earlier := self._running.get(primary)) is not None:
            await asyncio.wait([earlier])
        check = self._running.get(primary)
        if check is None:
            check = self._running[primary] = asyncio.create_task(self._check_now(primary))
        await asyncio.wait([check])
        return primary in self._faults

    async def _check_now(self, primary: Primary) -> None:
        doubts = self._doubts
        try:
            async with asyncio.timeout(ANSWER_WITHIN):
                self._faults[primary] = await self._fault(primary)
                self._cleared = doubts
        except (StoreUnavailable, RedisError, OSError, TimeoutError):
            # nothing is known about a primary that does not answer, and nothing can be written to it
            if self._faults.get(primary) is None:
                self._faults.pop(primary, None)
        except (
            Exception
        ) as fault:  # after any error, check again; until then the store is not known to be fit
            _log.error("store_check_failed", fault=fault)
            self._faults[primary] = (
                f"The check of the store failed ({type(fault).__name__}: {fault}). It is repeated every "
                f"{CHECK_EVERY:.0f} s. If it goes on failing, correct the cause, and restart the server."
            )
        finally:
            del self._running[primary]
            self._report()

    @property
    def _is_in_doubt(self) -> bool:
        """True after the connection for commits was lost, until a check that began later has an answer."""
        return self._cleared != self._doubts

    async def _fault(self, primary: Primary) -> str | None:
        """Return why the primary must not be used; `None` if it may be."""
        where = f"{primary.name}: " if self._primaries.is_cluster else ""
        try:
            found = await check_client(primary.client, self._durability, trust=self._trust)
        except StoreRefused as refused:
            return f"{where}{refused}"
        if not found.is_primary:
            raise StoreUnavailable(f"{primary.name} has become a replica")
        run = (found.run_id, self._primaries.revision)
        keys = self._ledger.keys(primary, every=self._runs.get(primary) != run)
        reading = await self._ledger.read(primary, keys)
        if not reading.entries:  # the first ledger is being moved to another primary
            keys = self._ledger.keys(primary, every=True)
            reading = await self._ledger.read(primary, keys)
        self.readings[primary], self._read_runs[primary] = reading, run
        losses = self._ledger.losses(reading)
        for loss in losses:
            if not loss.is_tolerated:
                return f"{where}{loss.sentence} {self._ledger.memory.remedy}"
        for check in self._checks:
            if reason := check(reading):
                return f"{where}{reason}"
        if losses:
            millis = max(loss.millis for loss in losses)
            _log.error("store_lost_writes", store=primary.name, millis=millis)
            await self._ledger.memory.remember(reading.entries)
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
