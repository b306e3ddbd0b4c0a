"""The tables on this node: loaded from the store at the first touch, changed one at a time.

A change is judged on the table as this node knows it, and written only if nobody wrote since;
otherwise the table is read again and the change judged anew. What a change means beyond the
table itself (boards to deal, seats to take away) comes out of it as effects.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

from saratoga_protocol.events import TableChanged
from saratoga_server.background_tasks import run_each_logged, run_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, Phase, Refusal, TableState
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import Known, LiveTable, PendingLoad, read_table
from saratoga_server.ports import (
    Millis,
    RaceFinish,
    RaceOpening,
    StoreUnavailable,
    TableStore,
    TableWrite,
)
from saratoga_server.store_timeout import STORE_TIMEOUT, within_timeout

ATTEMPTS: Final = 64
"""How often a change is judged anew because another node wrote first.

Of those who write at once one gets through each time: sixteen players on as many nodes need sixteen.
"""

ASKED_AT_ONCE: Final = 32
"""Tables whose versions are asked for in one go: more would hold up the event loop."""

APART: Final = 250
"""Milliseconds over which several nodes ring a timer that need not be prompt."""

CALM: Final = 2
"""Attempts after which a little is waited before the next, longer each time."""

BREATH: Final = 0.001
"""Seconds of that, at most, for each attempt."""

Transition = Callable[[TableState, Millis], Change | None]
"""Judges a change of a table at a time; `None`: there is nothing to change."""


def fresh_seed() -> bytes:
    """32 bytes that nobody can guess: the house's part of a deal."""
    return secrets.token_bytes(32)


class TableCache:
    """All tables that this node has touched."""

    def __init__(
        self,
        store: TableStore,
        broadcaster: Broadcaster,
        clock: ServerClock,
        seed: Callable[[], bytes] = fresh_seed,
    ) -> None:
        self._store = store
        self._broadcaster = broadcaster
        self._clock = clock
        self._seed = seed
        self._live_tables: dict[str, LiveTable] = {}
        self._arrivals: dict[str, PendingLoad] = {}
        self._bells: set[asyncio.Task[None]] = set()
        self.timeout = STORE_TIMEOUT
        """Seconds in which whoever asks for a table is answered."""
        self.opening_banked: Callable[[TableState], int] = lambda state: 0
        """How many cards a table's coming deal puts on the foundations."""
        self.is_alone: Callable[[], bool] = lambda: True
        """Whether nobody but this node can have changed a table."""
        self.on_change: Callable[[LiveTable, TableState, Change], Awaitable[None]] | None = None
        """Told of every change after it is durable: the room, the state before, the change."""
        self.on_due: Callable[[str], Coroutine[None, None, None]] | None = None
        """Told when a timer of a table has run out."""
        self.on_caught_up: Callable[[LiveTable, TableState], Awaitable[None]] | None = None
        """Told when the store had a newer table than this node knew: the room, and what was known."""

    async def live_table(self, code: str) -> LiveTable:
        """The table; raises `Refusal` if there is none."""
        live_table = self._live_tables.get(code)
        if live_table is not None:
            return live_table
        arrival = self._arrivals.setdefault(code, PendingLoad())
        arrival.asked += 1
        try:
            async with within_timeout(self.timeout), arrival.lock:
                return self._live_tables.get(code) or await self._load(code, arrival)
        finally:
            arrival.asked -= 1
            if not arrival.asked:
                del self._arrivals[code]

    async def _load(self, code: str, arrival: PendingLoad) -> LiveTable:
        version, promised = -1, 0
        while version < promised:
            arrival.promised = 0
            stored = await self._store.load_table(code)
            if stored is None:
                raise Refusal("no_such_table")
            version, body = stored
            # what was told of before the table was asked for need not be looked for again
            promised = arrival.promised
        live_table = self._live_tables.setdefault(code, LiveTable(code, version, read_table(body)))
        if live_table.state.outcome is not None:
            live_table.announced = live_table.state.outcome.race
        self._set_timer(live_table)
        # nobody may have looked at it since the node that held its seats died
        self._ring(code)
        return live_table

    def known(self, code: str) -> LiveTable | None:
        """The table, if this node has touched it."""
        return self._live_tables.get(code)

    def live_tables(self) -> list[LiveTable]:
        """Every table that this node has touched."""
        return list(self._live_tables.values())

    async def look_over(self) -> None:
        """Make sure of what is in doubt, and catch up where this node is behind."""
        live_tables = self.live_tables()
        await run_each_logged(
            self.refresh(live_table.code) if live_table.in_doubt else self.catch_up(live_table)
            for live_table in live_tables
            if live_table.in_doubt or live_table.behind is not None
        )

    def phases(self) -> dict[str, int]:
        """How many tables this node has touched, by phase."""
        return dict(
            Counter(str(live_table.state.phase) for live_table in self._live_tables.values())
        )

    async def open(self, state: TableState) -> LiveTable | None:
        """Put up a new table; `None` if its code is taken."""
        write = TableWrite(
            code=state.code,
            expected=0,
            body=tables.pack(state),
            due=tables.due(state),
        )
        if not await self._store.save_table(write):
            return None
        live_table = self._live_tables.setdefault(state.code, LiveTable(state.code, 1, state))
        self._set_timer(live_table)
        return live_table

    async def change(
        self, code: str, transition: Transition, finish: RaceFinish | None = None
    ) -> LiveTable:
        """Judge and write a change of the table; raises `Refusal`, and then nothing has changed."""
        live_table = None
        try:
            async with within_timeout(self.timeout):
                live_table = await self.live_table(code)
                before, change = await self._changed(live_table, transition, finish)
        finally:
            if live_table is not None:
                await self.catch_up(live_table)
        if change is not None and self.on_change is not None:
            await self._followed_up(
                live_table, before, self.on_change(live_table, before.state, change)
            )
        return live_table

    async def _changed(
        self, live_table: LiveTable, transition: Transition, finish: RaceFinish | None
    ) -> tuple[Known, Change | None]:
        """The table before the change, and the change, durable now."""
        async with live_table.lock:
            known = live_table.state
            try:
                if live_table.in_doubt:
                    await self._reload(live_table)
                is_sure = self.is_alone()
                for attempt in range(ATTEMPTS):
                    before = live_table.known
                    try:
                        change = transition(before.state, self._clock.now())
                    except Refusal:
                        # a no to what this node thinks may be a yes to what there is
                        if is_sure or not await self._reload(live_table):
                            raise
                        is_sure = True
                        continue
                    if change is None or await self._saved(
                        live_table, before.state, change.table, finish
                    ):
                        return before, change
                    if attempt >= CALM:
                        await asyncio.sleep(secrets.randbelow(attempt) * BREATH)
                    await self._reload(live_table)
                raise Refusal("store_unavailable", "Too many changes at once. Try again.")
            finally:
                self._set_timer(live_table)
                self._tell_if_changed(live_table, known)

    async def catch_up(self, live_table: LiveTable) -> None:
        """Do what changes mean that this node has not followed up yet."""
        while live_table.behind is not None and self.on_caught_up is not None:
            known, live_table.behind = live_table.behind, None
            if not await self._followed_up(
                live_table, known, self.on_caught_up(live_table, known.state)
            ):
                return

    async def _followed_up(
        self, live_table: LiveTable, known: Known, follow_up: Awaitable[None]
    ) -> bool:
        """Whether what the change means is done; if not, the next look over the floor does it.

        The change stands whatever goes wrong here: it is no answer to anybody's command.
        """
        is_done = False
        try:
            is_done = await run_logged(follow_up)
        finally:
            if not is_done:
                live_table.falls_behind(known)
        return is_done

    async def _saved(
        self,
        live_table: LiveTable,
        before: TableState,
        after: TableState,
        finish: RaceFinish | None,
    ) -> bool:
        try:
            saved = await self._store.save_table(self._write(live_table, before, after, finish))
        except BaseException:  # called off while it was on its way, it may have been made
            live_table.in_doubt = True
            raise
        if saved:
            live_table.state = after
            live_table.version += 1
        return saved

    def _tell_if_changed(self, live_table: LiveTable, known: TableState) -> None:
        if tables.public_view(known, 0) != tables.public_view(live_table.state, 0):
            changed = TableChanged(table=live_table.picture(), now=self._clock.now())
            self._broadcaster.tell_table(live_table.code, changed)

    def is_behind(self, code: str, version: int) -> bool:
        """Somebody tells of this version: whether the table, held here, is to be read for it."""
        if (arrival := self._arrivals.get(code)) is not None:
            arrival.promised = max(version, arrival.promised)
        live_table = self._live_tables.get(code)
        if live_table is None or version <= max(live_table.version, live_table.heard):
            return False
        live_table.heard = version
        return True

    async def changed_elsewhere(self) -> list[str]:
        """The tables held here of which the store has another version."""
        changed = []
        held = [(live_table.code, live_table.version) for live_table in self.live_tables()]
        for place in range(0, len(held), ASKED_AT_ONCE):
            asked = held[place : place + ASKED_AT_ONCE]
            stored = await self._store.load_versions([code for code, _ in asked])
            changed += [
                code
                for (code, version), there in zip(asked, stored, strict=True)
                if version != there
            ]
        return changed

    async def refresh(self, code: str, version: int | None = None) -> None:
        """Another node has changed the table: read it again, if this node holds it.

        `version` is what it has come to: then only if this node has not.
        """
        live_table = self._live_tables.get(code)
        if live_table is None:
            return
        try:
            async with within_timeout(self.timeout), live_table.lock:
                if version is None or live_table.version < version:
                    await self._read_again(live_table)
        except StoreUnavailable:
            live_table.in_doubt = True
            raise
        await self.catch_up(live_table)

    async def _read_again(self, live_table: LiveTable) -> None:
        known = live_table.state
        await self._reload(live_table)
        self._set_timer(live_table)
        self._tell_if_changed(live_table, known)

    async def elapse(self, code: str, dead_nodes: frozenset[str]) -> LiveTable:
        """Let the time that has passed have its effect on the table."""

        def passed(state: TableState, now: Millis) -> Change | None:
            return tables.elapse(state, now, self._seed(), dead_nodes, self._clock.since)

        live_table = await self.change(code, passed)
        self._set_timer(live_table)
        return live_table

    def forget_unused(self, node: str) -> None:
        """Let go of tables that nobody here follows, where nothing is going on or left undone."""
        # with others about, a race that nobody here follows is looked after where it is followed
        ours_alone = (Phase.COUNTDOWN, Phase.RUNNING) if self.is_alone() else ()
        for live_table in self.live_tables():
            state = live_table.state
            runs = state.phase in ours_alone
            busy = runs or live_table.lock.locked()
            undone = live_table.in_doubt or live_table.behind is not None
            ours = any(seat.node == node for seat in state.seats)
            if not (busy or undone or ours or self._broadcaster.audience(live_table.code)):
                self.forget(live_table.code)

    async def close(self) -> None:
        """Ring no more, and wait for what has been rung."""
        for code in list(self._live_tables):
            self.forget(code)
        await asyncio.gather(*self._bells, return_exceptions=True)

    def forget(self, code: str) -> None:
        """Let go of a table that nobody here needs; the store still has it."""
        live_table = self._live_tables.pop(code, None)
        if live_table is not None and live_table.timer is not None:
            live_table.timer.cancel()

    def _write(
        self,
        live_table: LiveTable,
        before: TableState,
        after: TableState,
        finish: RaceFinish | None,
    ) -> TableWrite:
        epochs = {seat.player: seat.epoch for seat in after.seats}
        starts = after.phase is Phase.RUNNING and before.phase is not Phase.RUNNING
        opening = None
        if starts:
            opening = RaceOpening(
                race=after.race,
                start_at=after.start_at,
                deadline=after.deadline,
                banked=self.opening_banked(after),
                epochs={player: epochs.get(player, 0) for player in after.racers},
            )
        fences = {}
        if after.phase is Phase.RUNNING and not starts:
            old = {seat.player: seat.epoch for seat in before.seats}
            fences = {p: e for p, e in epochs.items() if p in after.racers and old.get(p) != e}
        return TableWrite(
            code=live_table.code,
            expected=live_table.version,
            body=tables.pack(after),
            due=tables.due(after),
            epochs=fences,
            race=after.race,
            opening=opening,
            finish=finish,
            unraced=after.phase is Phase.CLOSED and tables.never_raced(after),
        )

    async def _reload(self, live_table: LiveTable) -> bool:
        """Read the table again; if it is not what this node knew (True), there is to be caught up."""
        stored = await self._store.load_table(live_table.code)
        if stored is None:
            self.forget(live_table.code)
            raise Refusal("no_such_table")
        known, live_table.in_doubt = live_table.known, False
        version, body = stored
        if version == live_table.version:
            return False
        try:
            live_table.version, live_table.state = version, read_table(body)
        except Refusal:
            self.forget(live_table.code)
            raise
        live_table.falls_behind(known)
        return True

    def _set_timer(self, live_table: LiveTable) -> None:
        """Have `on_due` called when the next timer of the table runs out."""
        if live_table.timer is not None:
            live_table.timer.cancel()
            live_table.timer = None
        due = tables.due(live_table.state)
        if due is not None and self.on_due is not None and live_table.code in self._live_tables:
            loop = asyncio.get_running_loop()
            wait = self._clock.seconds_until(due) + 0.001
            if (
                due not in (live_table.state.start_at, live_table.state.deadline)
                and not self.is_alone()
            ):
                # whoever rings first spares the others the work
                wait += secrets.randbelow(APART) / 1000
            live_table.timer = loop.call_later(wait, self._ring, live_table.code)

    def _ring(self, code: str) -> None:
        if self.on_due is not None:
            bell = asyncio.ensure_future(self.on_due(code))
            self._bells.add(bell)
            bell.add_done_callback(self._bells.discard)
