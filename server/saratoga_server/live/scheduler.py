"""Scheduled work: timers of tables, ticks and regular checks.

Timers are stored with their tables. A node that holds a table applies its timer in time. Every
second, every node also asks the store for timers that have run out and were not applied. Applying a
timer twice changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.background_tasks import BackgroundTasks, run_each_logged, run_logged
from saratoga_server.cancellation import pause
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, CommandRejected, TablePhase, TableState
from saratoga_server.live.activity import Activity
from saratoga_server.live.broadcaster import TICK, Broadcaster
from saratoga_server.live.due_tables import DueTables
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.peers import Peers
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.races import RaceCache
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import BEGINNING, Millis
from saratoga_server.store.nodes import NodeStore
from saratoga_server.store.tables import TableStore

SWEEP_EVERY: Final = 1.0
"""Seconds between two checks for work that was left undone."""

BEAT_EVERY: Final = 2.0
"""Seconds between two heartbeats of this node."""


RETRY_MILLIS: Final = 100
"""Milliseconds until a timer is retried after its table was busy or unreadable."""

MOST_DUE: Final = 256

CHECKED_AT_ONCE: Final = 500
"""Tables checked in one turn of the event loop: less than a millisecond."""


class Scheduler:
    """The scheduled work of one node."""

    def __init__(
        self,
        table_store: TableStore,
        nodes: NodeStore,
        clock: ServerClock,
        due_tables: DueTables,
        table_cache: TableCache,
        table_service: TableService,
        races: RaceCache,
        public_tables: PublicTables,
        leaderboards: Leaderboards,
        broadcaster: Broadcaster,
        peers: Peers,
        background_tasks: BackgroundTasks,
        activity: Activity,
    ) -> None:
        self._table_store = table_store
        self._nodes = nodes
        self._clock = clock
        self._due_tables = due_tables
        self._table_cache = table_cache
        self._table_service = table_service
        self._races = races
        self._public_tables = public_tables
        self._leaderboards = leaderboards
        self._broadcaster = broadcaster
        self._peers = peers
        self._background_tasks = background_tasks
        self._activity = activity
        self._elapsing: set[str] = set()
        self._missing: set[tuple[str, str, int]] = set()
        self._overdue_since = BEGINNING
        """The time from which the next check asks the store for timers."""
        self._found_overdue: set[str] = set()
        """The tables found overdue in this round of checks."""
        self._overdue: set[str] = set()
        """The tables found overdue in the round before."""

    @property
    def _node(self) -> str:
        return self._peers.node

    async def run(self) -> None:
        """Run all scheduled work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._clock.keep_synchronised())
            group.create_task(self._keep_timers())
            group.create_task(_every(TICK, self._tick))
            group.create_task(_every(BEAT_EVERY, self._beat))
            group.create_task(_every(SWEEP_EVERY, self.sweep))
            group.create_task(_every(SWEEP_EVERY, self.send_followed))

    async def send_followed(self) -> None:
        """Send the lists that connections follow, if they have changed."""
        await self._public_tables.send_changes()
        await self._leaderboards.send_changes()

    # Timers

    async def _keep_timers(self) -> None:
        while True:
            await self._due_tables.wait()
            self.apply_due()

    def apply_due(self) -> None:
        """Apply the timers that are due now, in the background."""
        while (code := self._due_tables.take_due()) is not None:
            self._background_tasks.spawn(self.elapse(code))

    async def elapse(self, code: str) -> None:
        """Apply a table's timer; an error at one table does not stop the others' timers."""
        if code in self._elapsing:
            self._retry_later(code)
            return
        self._elapsing.add(code)
        try:
            if not await run_logged(self._elapse(code)):
                self._retry_later(code)
        finally:
            self._elapsing.discard(code)

    def _retry_later(self, code: str) -> None:
        """Set a table's timer again; delay a due one, to spare the event loop."""
        table = self._table_cache.known(code)
        now = self._clock.now()
        at = None if table is None else tables.due(table.state)
        if at is not None:
            self._due_tables.set(code, max(at, Millis(now + RETRY_MILLIS)))

    async def _elapse(self, code: str) -> None:
        try:
            table = await self._table_cache.get(code)
        except CommandRejected as refusal:
            if refusal.code == "no_such_table" and not self._table_cache.is_damaged(code):
                await self._table_store.forget_timer(code)
            return
        dead = await self._nodes.dead(
            seat.node for seat in table.state.seats if seat.node and seat.node != self._node
        )
        await self._table_service.elapse(code, dead)
        if table.state.phase is TablePhase.RUNNING:
            await self._table_service.check_race(table)
        elif table.state.phase is TablePhase.CLOSED and not self._broadcaster.audience(code):
            self._table_cache.forget(code)

    # Regular checks

    async def sweep(self) -> None:
        """Apply timers that no node has applied, and do other work that was left undone.

        The steps are independent: an error in one stops no other, and moves are served in between.
        """
        for step in (
            self._find_long_countdowns,
            self._activity.store,
            self._elapse_overdue,
            self._table_service.look_over,
            self._find_lost_seats,
            self._claim_seats,
            self._find_seats_of_dead_nodes,
        ):
            await run_logged(step())
            await asyncio.sleep(0)
        self._table_cache.forget_unused(self._node)
        await asyncio.sleep(0)
        held = self._table_cache.all()
        self._races.keep_only(
            {table.state.race_id for table in held if table.state.phase is TablePhase.RUNNING}
        )

    async def _find_long_countdowns(self) -> None:
        """Make countdowns due that last too long, because the clock was set back."""
        now = self._clock.now()
        for place, table in enumerate(self._table_cache.all()):
            if tables.is_too_long(table.state, now):
                self._due_tables.set_now(table.code)
            if place % CHECKED_AT_ONCE == CHECKED_AT_ONCE - 1:
                await asyncio.sleep(0)

    async def _elapse_overdue(self) -> None:
        """Apply the timers that, according to the store, no node has applied."""
        since = self._overdue_since
        if since == BEGINNING:
            self._overdue, self._found_overdue = self._found_overdue, set()
        found = await self._table_store.due(self._clock.now(), MOST_DUE, since)
        last = max(found.values(), default=since)
        # timers that cannot be applied stay: the next check goes on behind them
        is_last = len(found) < MOST_DUE
        self._overdue_since = BEGINNING if is_last else max(last, Millis(since + 1))
        due = {code for code in found if not self._table_cache.is_damaged(code)}
        self._found_overdue |= due
        # a table with players on another node is left to that node for a round of checks
        await run_each_logged(
            self.elapse(code)
            for code in sorted(due)
            if code in self._overdue or self._table_cache.known(code) or self._peers.is_alone
        )

    async def _find_lost_seats(self) -> None:
        """Disconnect seats that name this node but have no connection on it.

        A player who is just joining looks the same for a moment, so a seat counts as lost only if it was
        already missing at the last check.
        """
        missing = {
            (table.code, seat.player, seat.epoch)
            for table in self._table_cache.all()
            for seat in table.state.seats
            if seat.node == self._node and not self._broadcaster.holds_seat(seat.player, table.code)
        }
        lost, self._missing = missing & self._missing, missing
        changes = []
        for code, player, epoch in sorted(lost):

            def gone(
                state: TableState, now: Millis, player: str = player, epoch: int = epoch
            ) -> Change | None:
                return tables.disconnect(state, player, epoch, now=now)

            changes.append(self._table_service.change(code, gone))
        await run_each_logged(changes)

    async def _claim_seats(self) -> None:
        """Reconnect seats that another node disconnected because this node seemed dead."""
        changes = []
        for table in self._table_cache.all():
            if all(seat.is_connected for seat in table.state.seats):
                continue
            for session in self._broadcaster.audience(table.code):
                if session.seat != table.code:
                    continue

                def here(
                    state: TableState, now: Millis, session: Session = session
                ) -> Change | None:
                    return tables.still_here(state, session.player, session.epoch, node=self._node)

                changes.append(self._table_service.change(table.code, here))
        await run_each_logged(changes)

    async def _find_seats_of_dead_nodes(self) -> None:
        """Disconnect seats whose node was killed; a gathering table has no timer for that.

        A killed node counts as dead only after a few seconds.
        """
        elsewhere = {
            table.code: {seat.node for seat in table.state.seats} - {"", self._node}
            for table in self._table_cache.all()
        }
        asked = frozenset(node for nodes in elsewhere.values() for node in nodes)
        dead = await self._nodes.dead(asked) if asked else frozenset()
        await run_each_logged(
            self._table_service.elapse(code, dead)
            for code, nodes in elsewhere.items()
            if nodes & dead
        )

    async def _tick(self) -> None:
        for _ in self._broadcaster.send_standings():
            await asyncio.sleep(0)

    async def _beat(self) -> None:
        await self._nodes.beat(self._node)


async def _every(seconds: float, do: Callable[[], Awaitable[object]]) -> None:
    while True:
        await run_logged(do())
        await pause(seconds)
