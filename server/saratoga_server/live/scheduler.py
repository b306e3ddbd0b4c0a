"""Scheduled work: timers of tables, ticks and regular checks.

Timers are stored with their tables. A node that holds a table applies its timer in time. Every
second, every node also asks the store for timers that ran out a second ago and were not applied.
Applying a timer twice changes nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from saratoga_rules.records.standing import IDLE_MILLIS
from saratoga_server.background_tasks import pause, run_each_logged, run_logged
from saratoga_server.domain import tables
from saratoga_server.domain.tables import BETWEEN_RACES, CommandRejected, TablePhase, TableState
from saratoga_server.domain.tables.state import NO_TIME
from saratoga_server.live import play
from saratoga_server.live.broadcaster import TICK
from saratoga_server.live.tables import LiveTable, racing_ids
from saratoga_server.ports import Millis
from saratoga_server.store.keys import open_key

if TYPE_CHECKING:
    from saratoga_server.node import Node

SWEEP_EVERY: Final = 1.0
"""Seconds between two checks for work that was left undone."""

ASK_EVERY: Final = 2.0
"""Seconds between two looks at which nodes live, and which tables they have changed."""

LOOK_EVERY: Final = 15.0
"""Seconds between two looks at the running boards here: idle, or stuck."""

OVERDUE_MILLIS: Final = 1_000
"""Milliseconds by which a timer is late that any node applies."""

MOST_DUE: Final = 256

CHECKED_AT_ONCE: Final = 500
"""Tables checked in one turn of the event loop: less than a millisecond."""

_LATER: Final = 0.001
"""Extra seconds to wait, because the clock counts whole milliseconds."""


class Scheduler:
    """The scheduled work of one node."""

    def __init__(self, node: "Node") -> None:
        self._node = node
        self._away_until = NO_TIME
        """The last time at which the store was found away."""
        self._missing: set[tuple[str, str, int]] = set()
        """The seats here that had no connection at the last check: table, player and epoch."""

    async def run(self) -> None:
        """Run all scheduled work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._node.clock.keep_synchronised())
            group.create_task(self._keep_timers())
            group.create_task(_every(TICK, self._tick))
            group.create_task(_every(SWEEP_EVERY, self.sweep))
            group.create_task(_every(SWEEP_EVERY, self.send_followed))
            group.create_task(_every(LOOK_EVERY, self.look_over_boards))
            group.create_task(self._keep_looking_around())

    async def send_followed(self) -> None:
        """Send the lists that connections follow, if they have changed."""
        await self._node.public_tables.send_changes()
        await self._node.leaderboards.send_changes()

    async def _tick(self) -> None:
        for race in self._node.races.ghosts_moved():
            if not race.is_over:
                self._node.broadcaster.standings_changed(race.code, race.next_standings)
        for _ in self._node.broadcaster.send_standings():
            await asyncio.sleep(0)

    # Timers

    async def _keep_timers(self) -> None:
        held, clock = self._node.tables, self._node.clock
        while True:
            held.timer_set.clear()
            self.apply_due()
            at = held.next_due()
            wait = None if at is None else max(0.0, (at - clock.now()) / 1000) + _LATER
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await held.timer_set.wait()

    def apply_due(self) -> None:
        """Apply the timers that are due now, in the background."""
        now = self._node.clock.now()
        for table in self._node.tables.all():
            if table.due_at is not None and table.due_at <= now:
                table.due_at = None
                self._node.background_tasks.spawn(self.elapse(table.code))

    async def elapse(self, code: str) -> None:
        """Apply a table's timer; an error at one table does not stop the others' timers."""
        if not await run_logged(self._elapse(code)):
            self._node.tables.look_again(code)

    async def _elapse(self, code: str, dead: frozenset[str] | None = None) -> None:
        node = self._node
        try:
            state = (await node.tables.get(code)).state
        except CommandRejected as refusal:
            if refusal.code == "no_such_table":  # it is gone, or cannot be read
                await node.store.tables.forget_timer(code)
            return
        if dead is None:
            elsewhere = {seat.node for seat in state.seats} - {"", node.name}
            dead = await node.store.nodes.dead(elsewhere)
        gone = dead

        def elapsed(state: TableState, now: Millis) -> TableState:
            return tables.elapse(
                state, now, node.new_seed(), gone, self._away_until, node.ranked_tables
            )

        written = await node.tables.change(code, elapsed)
        await play.look_at_end(node, code)
        if written.after is written.before:
            # the store may have made the table due, to be looked at
            await node.store.tables.set_timer(code, tables.due(written.table.state))

    # Regular checks

    async def sweep(self) -> None:
        """Apply timers that no node has applied, and do other work that was left undone.

        The steps are independent: an error in one stops no other, and moves are served in between.
        """
        held = self._node.tables
        if not await run_logged(self._elapse_overdue()):
            # time in which the store is away counts neither as absence nor as idleness
            self._away_until = self._node.clock.now()
            for session in self._node.broadcaster.sessions:
                session.active_at = self._away_until
        for step in (
            held.look_over,
            self._check_seats,
            self._pass_hosts_on,
            self._bring_owner_back,
            self._node.open_races.publish_days,
        ):
            await run_logged(step())
            await asyncio.sleep(0)
        held.forget_unused()
        await asyncio.sleep(0)
        self._node.races.keep_only(racing_ids(held.all()))

    async def _elapse_overdue(self) -> None:
        """Apply the timers that no node applied, and those of countdowns that a clock's step made too long."""
        now = self._node.clock.now()
        found = await self._node.store.tables.due(Millis(now - OVERDUE_MILLIS), MOST_DUE)
        for place, table in enumerate(self._node.tables.all(), start=1):
            if tables.is_too_long(table.state, now):
                found[table.code] = now
            if place % CHECKED_AT_ONCE == 0:
                await asyncio.sleep(0)
        opened = sorted(each for each in found if each.startswith(open_key("")))
        await run_each_logged(self._node.open_races.close_due(each) for each in opened)
        await run_each_logged(self.elapse(code) for code in sorted({*found} - {*opened}))

    async def look_over_boards(self) -> None:
        """End boards here that are idle, and search for those that are stuck."""
        await run_each_logged(self._look_over(table) for table in self._node.tables.all())

    async def _look_over(self, table: LiveTable) -> None:
        if table.state.phase is TablePhase.RUNNING:
            await play.look_over(self._node, table.state, await self._node.races.of(table))
            # the last board may have ended on a node that died before it could finish the race
            await play.look_at_end(self._node, table.code)

    async def _pass_hosts_on(self) -> None:
        """Pass on the place of hosts here who have been silent for too long between races."""
        node, now, changes = self._node, self._node.clock.now(), []
        for table in node.tables.all():
            state = table.state
            if state.phase not in BETWEEN_RACES or now - state.waited_since < IDLE_MILLIS:
                continue
            signs = {
                session.player: session.active_at
                for session in node.broadcaster.audience(table.code)
                if session.seat == table.code
            }
            host = state.seat(state.host)
            if host is None or host.bot or now - signs.get(state.host, now) < IDLE_MILLIS:
                continue
            away = {player for player, sign in signs.items() if now - sign >= IDLE_MILLIS}

            def passed_on(
                state: TableState, now: Millis, away: set[str] = away, host: str = state.host
            ) -> TableState:
                return tables.host_passed_on(state, away, now) if state.host == host else state

            changes.append(node.tables.change(table.code, passed_on))
        await run_each_logged(changes)

    async def _bring_owner_back(self) -> None:
        """Make the server's owner the host again, who was silent for too long and is active now."""
        node, changes = self._node, []
        for table in node.tables.all():
            if not node.owner or table.state.deposed != node.owner:
                continue
            signs = [
                session.active_at
                for session in node.broadcaster.audience(table.code)
                if session.seat == table.code and session.player == node.owner
            ]
            if max(signs, default=NO_TIME) >= table.state.waited_since:
                changes.append(
                    node.tables.change(
                        table.code, lambda state, now: tables.host_again(state, node.owner, now)
                    )
                )
        await run_each_logged(changes)

    async def _check_seats(self) -> None:
        """Disconnect seats of this node without a connection here; connect those that have one.

        A player who is just joining looks the same for a moment, so a seat counts as lost only if
        it was already missing at the last check. Another node disconnects a seat here if this node
        seemed dead.
        """
        node, missing = self._node, set()
        changes = []
        for table in node.tables.all():
            sessions = {
                session.player: session
                for session in node.broadcaster.audience(table.code)
                if session.seat == table.code
            }
            for seat in table.state.seats:
                session = sessions.get(seat.player)
                if session is not None and not seat.is_connected:
                    changes.append(self._reconnect(table.code, seat.player, session.epoch))
                elif session is None and seat.node == node.name:
                    missing.add((table.code, seat.player, seat.epoch))
        lost, self._missing = missing & self._missing, missing
        changes += [self.disconnect(*each) for each in sorted(lost)]
        await run_each_logged(changes)

    async def _reconnect(self, code: str, player: str, epoch: int) -> None:
        name = self._node.name
        await self._node.tables.change(
            code, lambda state, now: tables.still_here(state, player, epoch, node=name)
        )

    async def disconnect(self, code: str, player: str, epoch: int) -> None:
        """Mark the seat of a lost connection as disconnected. Raises `CommandRejected`."""
        await self._node.tables.change(
            code, lambda state, now: tables.disconnect(state, player, epoch, now=now)
        )

    async def _keep_looking_around(self) -> None:
        while True:
            await self.look_around()
            await pause(ASK_EVERY if self._node.store.events.is_listening else SWEEP_EVERY)

    async def look_around(self) -> None:
        """Show that this node lives; find out which nodes do not, and what they have changed."""
        await run_logged(self.beat())
        await run_logged(self._node.bot_hosts.repeat())
        await run_logged(self._look_at_nodes())
        await run_logged(self._node.listener.look_at_tables())

    async def beat(self) -> None:
        """Show that this node lives, while it serves anybody: an idle server writes nothing."""
        if self._node.broadcaster.sessions:
            await self._node.store.nodes.beat(self._node.name)

    async def _look_at_nodes(self) -> None:
        """Disconnect seats whose node was killed; it counts as dead only after a few seconds."""
        elsewhere = {
            table.code: {seat.node for seat in table.state.seats} - {"", self._node.name}
            for table in self._node.tables.all()
        }
        asked = frozenset(node for nodes in elsewhere.values() for node in nodes)
        dead = await self._node.store.nodes.dead(asked) if asked else frozenset()
        await run_each_logged(
            self._elapse(code, dead) for code, nodes in elsewhere.items() if nodes & dead
        )


async def _every(seconds: float, do: Callable[[], Awaitable[object]]) -> None:
    while True:
        await run_logged(do())
        await pause(seconds)
