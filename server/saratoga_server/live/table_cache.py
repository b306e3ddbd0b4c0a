"""The tables on this node: loaded when first needed, changed one at a time.

A change is judged on this node's copy of the table, and written only if the store has the same
version. Otherwise the table is read again and the change is judged again.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from msgspec import Struct, field

from saratoga_protocol.events import MatchChanged, TableChanged
from saratoga_rules.position import Position
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import (
    Change,
    CommandRejected,
    RaceVoided,
    TablePhase,
    TableState,
)
from saratoga_server.live.broadcaster import Broadcaster, send_loss
from saratoga_server.live.due_tables import DueTables
from saratoga_server.live.live_table import Known, LiveTable
from saratoga_server.live.peers import Peers
from saratoga_server.logs import EventLog
from saratoga_server.ports import Damage, Millis, RaceFinish, StoreUnavailable
from saratoga_server.store.clients import STORE_TIMEOUT
from saratoga_server.store.tables import NotSaved, TableStore, TableWrite, starts_race

log = EventLog("tables")

ATTEMPTS: Final = 64
"""The most times that a change is judged again because another node wrote first.

Of several nodes that write at once, one succeeds each time: sixteen need up to sixteen attempts.
"""

READ_AT_ONCE: Final = 32
"""Table versions in one read; more would block the event loop."""

JITTER: Final = 250
"""The longest random delay, in milliseconds, of a timer that any of several nodes may apply."""

PROMPT_ATTEMPTS: Final = 2
"""Attempts made without a pause; later ones have growing pauses."""

PAUSE: Final = 0.001
"""The longest pause before an attempt, in seconds, for each attempt beyond `PROMPT_ATTEMPTS`."""

TABLE_LOST: Final = (
    "The server's store lost data, and this table with it. Open or join another table."
)

CHANGES_LOST: Final = (
    "The server's store lost data: this table is as it was before the last changes."
)

DAMAGED: Final = "The server's stored data of that table are damaged, so it cannot be opened. Open or join another table."

Transition = Callable[[TableState, Millis], Change | None]
"""A function from a table and the time to a change, or `None`. Raises `CommandRejected`."""

Opening = Callable[[TableState], Position]
"""A function that returns the deal of a table's race."""


class SitsElsewhere(Exception):
    """The player who would sit down has a seat at another table; nothing has changed."""


class Applied(NamedTuple):
    """The result of `TableCache.change`: a change that was written, or none."""

    table: LiveTable
    before: Known
    """The table's version and state to which the transition was applied."""
    change: Change | None
    """The change, which the store has; `None` if nothing had to change."""


class TableCache:
    """The cache of the tables that this node uses."""

    def __init__(
        self,
        store: TableStore,
        broadcaster: Broadcaster,
        clock: ServerClock,
        peers: Peers,
        due_tables: DueTables,
        opening: Opening,
        timeout: float = STORE_TIMEOUT,
    ) -> None:
        """`timeout`: seconds within which a caller gets an answer."""
        self._store = store
        self._broadcaster = broadcaster
        self._clock = clock
        self._peers = peers
        self._due_tables = due_tables
        self._opening = opening
        self._timeout = timeout
        self._tables: dict[str, LiveTable] = {}
        self._loads = TableLoads()
        self._damaged: set[str] = set()
        """The tables whose stored data are damaged; each is logged once."""

    async def get(self, code: str) -> LiveTable:
        """Return the table. Raises `CommandRejected` if there is none."""
        table = self._tables.get(code)
        if table is not None:
            return table
        async with within_timeout(self._timeout), self._loads.one_at_a_time(code):
            return self._tables.get(code) or await self._load(code)

    async def _load(self, code: str) -> LiveTable:
        version, body = await self._loads.read(code, self._store.load_table)
        table = self._tables.setdefault(code, LiveTable(code, version, self._read(code, body)))
        if table.state.outcome is not None:
            table.announced = table.state.outcome.race
        # the node of its players may have died since the table was last checked
        self._due_tables.set_now(code)
        return table

    def _read(self, code: str, body: bytes) -> TableState:
        """Return the stored table. Raises `CommandRejected` if this node cannot read it."""
        try:
            state = tables.unpack(body)
        except Damage as damage:
            if code not in self._damaged:
                self._damaged.add(code)
                log.error("table_damaged", table=code, reason=str(damage))
            raise CommandRejected("no_such_table", DAMAGED) from None
        self._damaged.discard(code)
        return state

    def is_damaged(self, code: str) -> bool:
        """Return whether the table's stored data were damaged when this node last read them."""
        return code in self._damaged

    def known(self, code: str) -> LiveTable | None:
        """Return the table if it is in the cache, else `None`."""
        return self._tables.get(code)

    def all(self) -> list[LiveTable]:
        """Return every table in the cache."""
        return list(self._tables.values())

    def phases(self) -> dict[str, int]:
        """Return the number of tables in the cache, by phase."""
        return dict(Counter(str(table.state.phase) for table in self._tables.values()))

    async def open(self, state: TableState, key: str = "") -> LiveTable | NotSaved:
        """Write a new table and return it, or why it was not written; `key` as in `TableWrite`."""
        write = TableWrite(version=0, before=None, after=state, key=key)
        if (reason := await self._store.save_table(write)) is not None:
            return reason
        table = self._tables.setdefault(state.code, LiveTable(state.code, 1, state))
        self._set_timer(table)
        return table

    async def change(
        self, code: str, transition: Transition, finish: RaceFinish | None = None
    ) -> Applied:
        """Judge and write a change of the table, and return it.

        Nothing has changed if it raises `CommandRejected` or `SitsElsewhere`.
        """
        async with within_timeout(self._timeout):
            while True:
                table = await self.get(code)
                async with table.lock:
                    if self._tables.get(code) is not table:  # dropped while this change waited
                        continue
                    known = table.state
                    try:
                        return await self._changed(table, transition, finish)
                    finally:
                        self._set_timer(table)
                        self._show_if_changed(table, known)

    async def _changed(
        self, table: LiveTable, transition: Transition, finish: RaceFinish | None
    ) -> Applied:
        if table.in_doubt:
            await self._reload(table)
        is_newest = self._peers.is_alone
        for attempt in range(ATTEMPTS):
            before = table.known
            try:
                change = transition(before.state, self._clock.now())
            except CommandRejected:
                # a command refused on an old version may be allowed on the newest
                if is_newest or not await self._reload(table):
                    raise
                is_newest = True
                continue
            if change is None or await self._saved(table, change, finish):
                return Applied(table, before, change)
            if attempt >= PROMPT_ATTEMPTS:
                await asyncio.sleep(secrets.randbelow(attempt) * PAUSE)
            if not await self._reload(table):
                raise CommandRejected("store_unavailable", "Moves were made meanwhile. Try again.")
        raise CommandRejected("store_unavailable", "Too many changes at once. Try again.")

    async def _saved(self, table: LiveTable, change: Change, finish: RaceFinish | None) -> bool:
        after = change.table
        banked = self._opening(after).banked if starts_race(table.state, after) else 0
        write = TableWrite(
            version=table.version,
            before=table.state,
            after=after,
            opening_banked=banked,
            finish=finish or _finish_of(change),
        )
        try:
            reason = await self._store.save_table(write)
        except BaseException:  # also after a cancellation: the change may have been written
            table.in_doubt = True
            raise
        if reason is NotSaved.ELSEWHERE:
            raise SitsElsewhere
        if reason is None:
            table.state = after
            table.version += 1
        return reason is None

    def _show_if_changed(self, table: LiveTable, known: TableState) -> None:
        self._broadcaster.close_replaced(table.state)
        if tables.public_view(known, 0) != tables.public_view(table.state, 0):
            changed = TableChanged(table=table.view(), now=self._clock.now())
            self._broadcaster.send_to_table(table.code, changed)
        if table.state.match != known.match:
            match = MatchChanged(table=table.code, match=table.state.match)
            self._broadcaster.send_to_table(table.code, match)

    def heard_of(self, code: str, version: int) -> bool:
        """Record a published version; return whether the table must be read again."""
        self._loads.heard_of(code, version)
        table = self._tables.get(code)
        if table is None or version <= max(table.version, table.heard_of):
            return False
        table.heard_of = version
        return True

    async def changed_elsewhere(self) -> list[str]:
        """Return the cached tables of which the store has another version."""
        changed = []
        held = [(table.code, table.version) for table in self.all()]
        for start in range(0, len(held), READ_AT_ONCE):
            asked = held[start : start + READ_AT_ONCE]
            stored = await self._store.load_versions([code for code, _ in asked])
            changed += [
                code
                for (code, version), there in zip(asked, stored, strict=True)
                if version != there
            ]
        return changed

    async def refresh(self, code: str, version: int | None = None) -> LiveTable | None:
        """Read a cached table again, if older than `version`. Return it; `None` if not cached."""
        table = self._tables.get(code)
        if table is None:
            return None
        try:
            async with within_timeout(self._timeout), table.lock:
                if version is None or table.version < version:
                    known = table.state
                    await self._reload(table)
                    self._set_timer(table)
                    self._show_if_changed(table, known)
        except StoreUnavailable:
            table.in_doubt = True
            raise
        return table

    def forget_unused(self, node: str) -> None:
        """Drop tables without connections, race and unfinished work on this node."""
        # with several nodes, a race belongs to the nodes of its players; a single node keeps all
        kept_phases = tables.RACING_PHASES if self._peers.is_alone else ()
        for table in self.all():
            state = table.state
            is_busy = state.phase in kept_phases or table.lock.locked()
            is_undone = table.in_doubt or table.followed_up is not None
            holds_seats = any(seat.node == node for seat in state.seats)
            is_followed = bool(self._broadcaster.audience(table.code))
            if not (is_busy or is_undone or holds_seats or is_followed):
                self.forget(table.code)

    def forget(self, code: str) -> None:
        """Drop a table. The store still has it."""
        self._tables.pop(code, None)
        self._due_tables.set(code, None)

    async def _reload(self, table: LiveTable) -> bool:
        """Read the table again; return whether it was newer than the cached one."""
        stored = await self._store.load_table(table.code)
        if stored is None:
            is_first = self._tables.get(table.code) is table
            self.forget(table.code)
            if table.state.phase is TablePhase.CLOSED:
                raise CommandRejected("no_such_table")
            # no table that is open is deleted; others may have waited for this table's lock
            if is_first:
                log.error("table_lost", table=table.code, acknowledged=table.version)
            raise CommandRejected("no_such_table", TABLE_LOST)
        known, table.in_doubt = table.known, False
        version, body = stored
        if version == table.version:
            return False
        if version < table.version:
            log.error("table_lost", table=table.code, acknowledged=table.version, stored=version)
            send_loss(self._broadcaster.audience(table.code), CHANGES_LOST)
            table.heard_of, table.announced = 0, ""
        try:
            table.version, table.state = version, self._read(table.code, body)
        except CommandRejected:
            self.forget(table.code)
            raise
        table.falls_behind(known)
        return True

    def _set_timer(self, table: LiveTable) -> None:
        """Set the time at which the table's next timer runs out."""
        if table.code not in self._tables:
            return
        at = tables.due(table.state)
        is_prompt = at in (table.state.call_until, table.state.start_at, table.state.deadline)
        if at is not None and not is_prompt and not self._peers.is_alone:
            # one node applies it before the others' timers run out
            at = Millis(at + secrets.randbelow(JITTER))
        self._due_tables.set(table.code, at)


def _finish_of(change: Change) -> RaceFinish | None:
    """Return the record to store with a change that voids a race or countdown; else `None`."""
    for effect in change.effects:
        if isinstance(effect, RaceVoided):
            race = int(effect.ended.race.rpartition("/")[2])
            return RaceFinish(race=race, record=effect.record, entries=effect.entries)
    return None


LoadTable = Callable[[str], Awaitable[tuple[int, bytes] | None]]


class _Load(Struct):
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0
    heard_of: int = 0
    """The newest version published since the read began."""


class TableLoads:
    """The loads of tables that are in progress."""

    def __init__(self) -> None:
        self._loads: dict[str, _Load] = {}

    @asynccontextmanager
    async def one_at_a_time(self, code: str) -> AsyncIterator[None]:
        """Let one caller load the table while others wait for it."""
        load = self._loads.setdefault(code, _Load())
        load.callers += 1
        try:
            async with load.lock:
                yield
        finally:
            load.callers -= 1
            if not load.callers:
                del self._loads[code]

    def heard_of(self, code: str, version: int) -> None:
        """Record a version that was published while the table is being loaded."""
        if (load := self._loads.get(code)) is not None:
            load.heard_of = max(version, load.heard_of)

    async def read(self, code: str, load_table: LoadTable) -> tuple[int, bytes]:
        """Return version and body, as new as all published. Raises `CommandRejected`."""
        load = self._loads[code]
        while True:
            load.heard_of = 0
            stored = await load_table(code)
            if stored is None:
                raise CommandRejected("no_such_table")
            if stored[0] >= load.heard_of:
                return stored


@asynccontextmanager
async def within_timeout(seconds: float) -> AsyncIterator[None]:
    """Raise `StoreUnavailable` if the work in the `async with` block takes longer.

    The work is cancelled; a write in progress may have been made.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise StoreUnavailable("the table could not be read or written in time") from None
