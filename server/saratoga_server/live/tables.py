"""The tables on this node: loaded when first needed, changed one at a time.

A change is judged on this node's copy of the table, and written only if the store has the same
version. Otherwise the table is read again and the change is judged again. What a change means to
the players here follows from the table before and after, no matter which node wrote it
(`reactions`).
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from saratoga_protocol.events import Table as WireTable
from saratoga_rules.games import RULES
from saratoga_server.background_tasks import run_each_logged, run_logged
from saratoga_server.domain import tables
from saratoga_server.domain.tables import CommandRejected, TablePhase, TableState
from saratoga_server.domain.tables.countdown import checked_deal
from saratoga_server.live import reactions
from saratoga_server.live.broadcaster import send_loss
from saratoga_server.logs import EventLog
from saratoga_server.ports import Damage, Millis, RaceFinish, Run, StoreUnavailable
from saratoga_server.store.client import STORE_TIMEOUT
from saratoga_server.store.tables import NotSaved, TableWrite, starts_race

if TYPE_CHECKING:
    from saratoga_server.node import Node

log = EventLog("tables")

ATTEMPTS: Final = 64
"""The most times that a change is judged again because another node wrote first.

Of several nodes that write at once, one succeeds each time: sixteen need up to sixteen attempts.
"""

PROMPT_ATTEMPTS: Final = 2
"""Attempts made without a pause; later ones have growing pauses."""

PAUSE: Final = 0.001
"""The longest pause before an attempt, in seconds, for each attempt beyond `PROMPT_ATTEMPTS`."""

RETRY_MILLIS: Final = 250
"""Milliseconds until a timer is looked at again that has run out and is still there."""

TABLE_LOST: Final = (
    "The server's store lost data, and this table with it. Open or join another table."
)

CHANGES_LOST: Final = (
    "The server's store lost data: this table is as it was before the last changes."
)

DAMAGED: Final = "The server's stored data of that table are damaged, so it cannot be opened. Open or join another table."

Transition = Callable[[TableState, Millis], TableState]
"""A function from table and time to the next table, or the same. Raises `CommandRejected`."""


class SitsElsewhere(Exception):
    """The player who would sit down has a seat at another table; nothing has changed."""


class LiveTable(Struct, eq=False):
    """A table on this node."""

    code: str
    version: int
    state: TableState
    followed: TableState
    """The state up to which this node has carried out what follows from changes."""
    due_at: Millis | None = None
    """When the next timer runs out; `None`: there is none, or it is being applied."""
    in_doubt: bool = False
    """True if the reply to a write was lost, so the store may hold a newer version."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    following: asyncio.Lock = field(default_factory=asyncio.Lock)


class Written(NamedTuple):
    """The result of `Tables.write`."""

    table: LiveTable
    before: TableState
    """The table to which the transition was applied."""
    after: TableState
    """The table that the store has; `before` itself if nothing had to change."""


class Tables:
    """The tables that this node uses."""

    def __init__(self, node: "Node", timeout: float = STORE_TIMEOUT) -> None:
        """`timeout`: seconds within which a caller gets an answer."""
        self._node = node
        self._store = node.store.tables
        self._timeout = timeout
        self._tables: dict[str, LiveTable] = {}
        self._loading: dict[str, asyncio.Lock] = {}
        self._damaged: set[str] = set()
        """The tables whose stored data are damaged; each is logged once."""
        self.timer_set = asyncio.Event()
        """Set when a timer is set that may be the next."""

    def known(self, code: str) -> LiveTable | None:
        """Return the table if this node holds it, else `None`."""
        return self._tables.get(code)

    def all(self) -> list[LiveTable]:
        """Return every table that this node holds."""
        return list(self._tables.values())

    def view(self, table: LiveTable) -> WireTable:
        """Return the public view of a table."""
        node = self._node
        return tables.public_view(
            table.state, table.version, owner=node.owner, bots=node.bot_hosts.levels
        )

    def phases(self) -> Counter[TablePhase]:
        """Return the number of tables that this node holds, by phase."""
        return Counter(table.state.phase for table in self._tables.values())

    def next_due(self) -> Millis | None:
        """Return when the next timer of a held table runs out."""
        due = (table.due_at for table in self._tables.values() if table.due_at is not None)
        return min(due, default=None)

    # Reading

    async def get(self, code: str) -> LiveTable:
        """Return the table. Raises `CommandRejected` if there is none."""
        table = self._tables.get(code)
        if table is not None:
            return table
        loading = self._loading.setdefault(code, asyncio.Lock())
        async with within_timeout(self._timeout), loading:
            try:
                return self._tables.get(code) or await self._load(code)
            finally:
                self._loading.pop(code, None)

    async def _load(self, code: str) -> LiveTable:
        stored = await self._store.load_table(code)
        if stored is None:
            raise CommandRejected("no_such_table")
        version, body = stored
        state = self._read(code, body)
        table = self._tables.setdefault(code, LiveTable(code, version, state, state))
        # the node of its players may have died since the table was last looked at
        table.due_at = self._node.clock.now()
        self.timer_set.set()
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

    async def refresh(self, code: str, version: int | None = None) -> None:
        """Read a held table again, if it is older than `version`; carry out what follows."""
        table = self._tables.get(code)
        if table is None or (version is not None and version <= table.version):
            return
        try:
            async with within_timeout(self._timeout), table.lock:
                if version is None or table.version < version:
                    await self._reload(table)
        except StoreUnavailable:
            table.in_doubt = True
            raise
        await self.follow(table)

    async def changed_elsewhere(self) -> list[str]:
        """Return the held tables of which the store has another version than this node."""
        held = [(table.code, table.version) for table in self.all()]
        stored = await self._store.load_versions([code for code, _ in held])
        return [
            code for (code, version), there in zip(held, stored, strict=True) if version != there
        ]

    async def _reload(self, table: LiveTable) -> bool:
        """Read the table again; return whether it has another version. The caller has the lock."""
        stored = await self._store.load_table(table.code)
        if self._tables.get(table.code) is not table:
            raise CommandRejected("no_such_table")
        before, table.in_doubt = table.state, False
        if stored is None:
            self.forget(table.code)
            if before.phase is not TablePhase.CLOSED:
                # no table that is open is deleted
                log.error("table_lost", table=table.code, acknowledged=table.version)
                self._node.races.forget(before.race_id)
                reactions.lose_seats(self._node, table.code, TABLE_LOST)
            raise CommandRejected("no_such_table", TABLE_LOST)
        version, body = stored
        if version == table.version:
            return False
        if version < table.version:
            log.error("table_lost", table=table.code, acknowledged=table.version, stored=version)
            send_loss(self._node.broadcaster.audience(table.code), CHANGES_LOST)
            self._node.races.forget(before.race_id)
        try:
            table.version, table.state = version, self._read(table.code, body)
        except CommandRejected:
            self.forget(table.code)
            raise
        self._changed(table, before)
        return True

    # Changing

    async def open(
        self, state: TableState, key: str = "", entry: Run | None = None
    ) -> LiveTable | NotSaved:
        """Write and return a new table, or return why not; `key` and `entry` as in `TableWrite`."""
        write = TableWrite(version=0, before=None, after=state, key=key, entry=entry)
        if (reason := await self._store.save_table(write)) is not None:
            return reason
        table = self._tables.setdefault(state.code, LiveTable(state.code, 1, state, state))
        self._set_timer(table)
        return table

    async def change(
        self, code: str, transition: Transition, finish: RaceFinish | None = None
    ) -> Written:
        """Judge and write a change of the table, carry out what follows, and return it.

        Nothing has changed if it raises `CommandRejected` or `SitsElsewhere`.
        """
        written = await self.write(code, transition, finish)
        await self.follow(written.table)
        return written

    async def write(
        self, code: str, transition: Transition, finish: RaceFinish | None = None
    ) -> Written:
        """Judge and write a change of the table, and tell the players here; raises as `change`."""
        async with within_timeout(self._timeout):
            while True:
                table = await self.get(code)
                async with table.lock:
                    if self._tables.get(code) is table:  # not dropped while this change waited
                        return await self._written(table, transition, finish)

    async def _written(
        self, table: LiveTable, transition: Transition, finish: RaceFinish | None
    ) -> Written:
        is_newest = False
        if table.in_doubt:
            await self._reload(table)
            is_newest = True
        for attempt in range(ATTEMPTS):
            before = table.state
            try:
                after = transition(before, self._node.clock.now())
            except CommandRejected:
                # a command refused on an old version may be allowed on the newest
                if is_newest or not await self._reload(table):
                    raise
                is_newest = True
                continue
            if after is before or await self._saved(table, after, finish):
                self._set_timer(table)
                return Written(table, before, table.state)
            if attempt >= PROMPT_ATTEMPTS:
                await asyncio.sleep(secrets.randbelow(attempt) * PAUSE)
            if not await self._reload(table):
                raise CommandRejected("store_unavailable", "Moves were made meanwhile. Try again.")
        raise CommandRejected("store_unavailable", "Too many changes at once. Try again.")

    async def _saved(self, table: LiveTable, after: TableState, finish: RaceFinish | None) -> bool:
        before = table.state
        banked = self.opening_banked(after) if starts_race(before, after) else 0
        write = TableWrite(
            version=table.version,
            before=before,
            after=after,
            opening_banked=banked,
            finish=finish or after.voided,
        )
        try:
            reason = await self._store.save_table(write)
        except BaseException:  # also after a cancellation: the change may have been written
            table.in_doubt = True
            raise
        if reason is NotSaved.ELSEWHERE:
            raise SitsElsewhere
        if reason is None:
            table.state = replace(after, voided=None) if after.voided else after
            table.version += 1
            reactions.count(self._node, before, after)
            self._changed(table, before)
        return reason is None

    def opening_banked(self, state: TableState) -> int:
        """Return how many cards the deal of a table's race puts on the foundations."""
        game = RULES[state.rules_version][state.settings.game]
        return self._node.deal(game, checked_deal(state)).banked

    def _changed(self, table: LiveTable, before: TableState) -> None:
        self._set_timer(table)
        reactions.tell(self._node, table, before)

    async def follow(self, table: LiveTable) -> None:
        """Carry out what follows from changes; what fails is done again at the next sweep.

        A change is durable already, so an error here is not an answer to a command. If somebody
        else is at it, the latest change is followed there too.
        """
        if table.followed is not table.state and not table.following.locked():
            async with table.following:
                await run_logged(self._follow(table))

    async def _follow(self, table: LiveTable) -> None:
        while table.followed is not table.state:
            before, after = table.followed, table.state
            await reactions.follow(self._node, table, before, after)
            table.followed = after

    async def look_over(self) -> None:
        """Read the tables of uncertain writes again, and carry out what is still undone."""
        await run_each_logged(
            self.refresh(table.code) if table.in_doubt else self.follow(table)
            for table in self.all()
            if table.in_doubt or table.followed is not table.state
        )

    # Dropping

    def forget_unused(self) -> None:
        """Drop tables without connections and unfinished work on this node."""
        for table in self.all():
            is_busy = table.lock.locked() or table.in_doubt or table.followed is not table.state
            holds_seats = any(seat.node == self._node.name for seat in table.state.seats)
            if not (is_busy or holds_seats or self._node.broadcaster.audience(table.code)):
                self.forget(table.code)

    def forget(self, code: str) -> None:
        """Drop a table. The store still has it."""
        self._tables.pop(code, None)

    def _set_timer(self, table: LiveTable) -> None:
        """Set the time at which the table's next timer runs out."""
        at, now = tables.due(table.state), self._node.clock.now()
        if table.due_at is not None and table.due_at <= now:
            return  # it is about to be looked at
        table.due_at = None if at is None else at if at > now else Millis(now + RETRY_MILLIS)
        self.timer_set.set()

    def look_again(self, code: str) -> None:
        """Look at the table's timer again soon, after it could not be applied."""
        if (table := self._tables.get(code)) is not None:
            table.due_at = Millis(self._node.clock.now() + RETRY_MILLIS)
            self.timer_set.set()


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


def racing_ids(held: Iterable[LiveTable]) -> set[str]:
    """Return the ids of the running races of these tables."""
    return {table.state.race_id for table in held if table.state.phase is TablePhase.RUNNING}
