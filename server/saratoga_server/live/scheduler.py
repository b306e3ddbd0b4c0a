"""Everything that happens by the clock: timers of tables, ticks, and looks over the floor.

Timers live in the data. A node that knows a table rings at the right moment; every node asks the
store each second for those that nobody has rung. To look twice changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.background_tasks import run_each_logged, run_logged
from saratoga_server.cancellation import pause
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, Phase, TableState
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.live.broadcaster import TICK
from saratoga_server.live.session import Session
from saratoga_server.ports import Millis

SWEEP_EVERY: Final = 1.0
"""Seconds between two looks at the store for timers that ran out."""

BEAT_EVERY: Final = 2.0
"""Seconds between two signs of life of this node."""

UNREAD_EVERY: Final = 60.0
"""Seconds between two looks at results that could not be read."""

MOST_DUE: Final = 256

Due = Callable[[Millis, int], Awaitable[list[str]]]
"""Codes of tables with a timer that has run out, at most so many."""


class Scheduler:
    """Looks after one house."""

    def __init__(self, house: Dispatcher, due: Due) -> None:
        self._house = house
        self._due = due
        self._elapsing: set[str] = set()
        self._missed: set[tuple[str, str, int]] = set()
        self._overdue: frozenset[str] = frozenset()
        house.table_cache.on_due = self.elapse

    async def keep(self) -> None:
        """Keep time; for ever."""
        house = self._house
        async with asyncio.TaskGroup() as group:
            group.create_task(house.clock.keep_synchronised())
            group.create_task(_every(TICK, self._tick))
            group.create_task(_every(BEAT_EVERY, self._beat))
            group.create_task(_every(SWEEP_EVERY, self.sweep))
            group.create_task(_every(SWEEP_EVERY, house.leaderboards.settle))
            group.create_task(_every(UNREAD_EVERY, house.leaderboards.settle_unread))
            group.create_task(_every(SWEEP_EVERY, house.leaderboards.tell_changes))

    async def elapse(self, code: str) -> None:
        """A timer of the table has run out, here or elsewhere."""
        if code in self._elapsing:
            return
        self._elapsing.add(code)
        try:
            # a table that breaks must not stop the clock of the others
            await run_logged(self._elapse(code))
        finally:
            self._elapsing.discard(code)

    async def _elapse(self, code: str) -> None:
        house = self._house
        live_table = await house.table_cache.live_table(code)
        dead = await house.nodes.dead(
            seat.node for seat in live_table.state.seats if seat.node and seat.node != house.node
        )
        await house.table_cache.elapse(code, dead)
        if live_table.state.phase is Phase.RUNNING:
            race = await house.races.of(live_table)
            if not race.is_over:
                # the last board may have ended on a node that died before it could tell
                await house.races.look_again(race)
            if race.is_over:
                await house.race_finisher.count_up(code)
        elif live_table.state.phase is Phase.CLOSED and not house.broadcaster.audience(code):
            house.table_cache.forget(code)

    async def sweep(self) -> None:
        """Ring the timers that nobody has rung, and put right what was left undone.

        Each step by itself: where a part of the store is away, the others still have their turn; and
        moves have theirs in between, for each step looks at every table.
        """
        house = self._house
        for step in (
            self._ring_overdue,
            house.table_cache.look_over,
            house.lobby.places.catch_up,
            self._find_lost_seats,
            self._claim_seats,
            self._find_seats_of_dead_nodes,
        ):
            await run_logged(step())
            await asyncio.sleep(0)
        house.table_cache.forget_unused(house.node)
        await asyncio.sleep(0)
        house.lobby.public.forget_others(
            {live_table.code for live_table in house.table_cache.live_tables()}
        )
        running = {
            r.state.race_id
            for r in house.table_cache.live_tables()
            if r.state.phase is Phase.RUNNING
        }
        house.races.keep_only(running)

    async def _ring_overdue(self) -> None:
        """Timers that have run out and that nobody has rung yet."""
        house = self._house
        due = frozenset(await self._due(house.clock.now(), MOST_DUE))
        # a table that somebody follows on another node is rung there, unless that node is gone
        await run_each_logged(
            self.elapse(code)
            for code in sorted(due)
            if code in self._overdue or house.table_cache.known(code) or house.news.is_alone
        )
        self._overdue = due

    async def _find_lost_seats(self) -> None:
        """Seats that this node holds in the data, but no connection of this node does.

        Whoever is just sitting down looks the same for a moment: only a seat that was missed at
        the last look too is lost.
        """
        house = self._house
        missed = {
            (live_table.code, seat.player, seat.epoch)
            for live_table in house.table_cache.live_tables()
            for seat in live_table.state.seats
            if seat.node == house.node
            and not house.broadcaster.is_following(seat.player, live_table.code)
        }
        lost, self._missed = missed & self._missed, missed
        changes = []
        for code, player, epoch in sorted(lost):

            def gone(
                table: TableState, now: Millis, player: str = player, epoch: int = epoch
            ) -> Change | None:
                return tables.disconnect(table, player, epoch, now=now)

            changes.append(house.table_cache.change(code, gone))
        await run_each_logged(changes)

    async def _claim_seats(self) -> None:
        """Seats of connections to this node that another took for gone: it seemed dead for a while."""
        house = self._house
        changes = []
        for live_table in house.table_cache.live_tables():
            if all(seat.is_connected for seat in live_table.state.seats):
                continue
            for session in house.broadcaster.audience(live_table.code):
                if session.seat != live_table.code:
                    continue

                def here(
                    table: TableState, now: Millis, session: Session = session
                ) -> Change | None:
                    return tables.still_here(table, session.player, session.epoch, node=house.node)

                changes.append(house.table_cache.change(live_table.code, here))
        await run_each_logged(changes)

    async def _find_seats_of_dead_nodes(self) -> None:
        """Seats whose node was killed: where the table only gathers, no timer would tell.

        A killed node counts as dead a few seconds later; by then its tables may long be loaded.
        """
        house = self._house
        elsewhere = {
            live_table.code: {seat.node for seat in live_table.state.seats} - {"", house.node}
            for live_table in house.table_cache.live_tables()
        }
        asked = frozenset(node for nodes in elsewhere.values() for node in nodes)
        dead = await house.nodes.dead(asked) if asked else frozenset()
        await run_each_logged(
            house.table_cache.elapse(code, dead)
            for code, nodes in elsewhere.items()
            if nodes & dead
        )

    async def _tick(self) -> None:
        for _ in self._house.broadcaster.ticks():
            await asyncio.sleep(0)

    async def _beat(self) -> None:
        await self._house.nodes.beat(self._house.node)


async def _every(seconds: float, do: Callable[[], Awaitable[object]]) -> None:
    while True:
        await run_logged(do())
        await pause(seconds)
