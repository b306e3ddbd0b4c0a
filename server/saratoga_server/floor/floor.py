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
from saratoga_server import table as rules
from saratoga_server.clock import HouseClock
from saratoga_server.errands import guarded, guarded_each
from saratoga_server.floor.hub import Hub
from saratoga_server.floor.room import Arrival, Known, Room, read_table
from saratoga_server.patience import PATIENCE, within_patience
from saratoga_server.ports import (
    Millis,
    RaceFinish,
    RaceOpening,
    StoreUnavailable,
    TableStore,
    TableWrite,
)
from saratoga_server.table import Change, Phase, Refusal, TableState

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


class Floor:
    """All tables that this node has touched."""

    def __init__(
        self, store: TableStore, hub: Hub, clock: HouseClock, seed: Callable[[], bytes] = fresh_seed
    ) -> None:
        self._store = store
        self._hub = hub
        self._clock = clock
        self._seed = seed
        self._rooms: dict[str, Room] = {}
        self._arrivals: dict[str, Arrival] = {}
        self._bells: set[asyncio.Task[None]] = set()
        self.patience = PATIENCE
        """Seconds in which whoever asks for a table is answered."""
        self.opening_banked: Callable[[TableState], int] = lambda state: 0
        """How many cards a table's coming deal puts on the foundations."""
        self.is_alone: Callable[[], bool] = lambda: True
        """Whether nobody but this node can have changed a table."""
        self.on_change: Callable[[Room, TableState, Change], Awaitable[None]] | None = None
        """Told of every change after it is durable: the room, the state before, the change."""
        self.on_due: Callable[[str], Coroutine[None, None, None]] | None = None
        """Told when a timer of a table has run out."""
        self.on_caught_up: Callable[[Room, TableState], Awaitable[None]] | None = None
        """Told when the store had a newer table than this node knew: the room, and what was known."""

    async def room(self, code: str) -> Room:
        """The table; raises `Refusal` if there is none."""
        room = self._rooms.get(code)
        if room is not None:
            return room
        arrival = self._arrivals.setdefault(code, Arrival())
        arrival.asked += 1
        try:
            async with within_patience(self.patience), arrival.lock:
                return self._rooms.get(code) or await self._load(code, arrival)
        finally:
            arrival.asked -= 1
            if not arrival.asked:
                del self._arrivals[code]

    async def _load(self, code: str, arrival: Arrival) -> Room:
        version, promised = -1, 0
        while version < promised:
            arrival.promised = 0
            stored = await self._store.load_table(code)
            if stored is None:
                raise Refusal("no_such_table")
            version, body = stored
            # what was told of before the table was asked for need not be looked for again
            promised = arrival.promised
        room = self._rooms.setdefault(code, Room(code, version, read_table(body)))
        if room.state.outcome is not None:
            room.announced = room.state.outcome.race
        self._set_timer(room)
        # nobody may have looked at it since the node that held its seats died
        self._ring(code)
        return room

    def known(self, code: str) -> Room | None:
        """The table, if this node has touched it."""
        return self._rooms.get(code)

    def rooms(self) -> list[Room]:
        """Every table that this node has touched."""
        return list(self._rooms.values())

    async def look_over(self) -> None:
        """Make sure of what is in doubt, and catch up where this node is behind."""
        rooms = self.rooms()
        await guarded_each(
            self.refresh(room.code) if room.in_doubt else self.catch_up(room)
            for room in rooms
            if room.in_doubt or room.behind is not None
        )

    def phases(self) -> dict[str, int]:
        """How many tables this node has touched, by phase."""
        return dict(Counter(str(room.state.phase) for room in self._rooms.values()))

    async def open(self, state: TableState) -> Room | None:
        """Put up a new table; `None` if its code is taken."""
        write = TableWrite(
            code=state.code,
            expected=0,
            body=rules.pack(state),
            due=rules.due(state),
        )
        if not await self._store.save_table(write):
            return None
        room = self._rooms.setdefault(state.code, Room(state.code, 1, state))
        self._set_timer(room)
        return room

    async def change(
        self, code: str, transition: Transition, finish: RaceFinish | None = None
    ) -> Room:
        """Judge and write a change of the table; raises `Refusal`, and then nothing has changed."""
        room = None
        try:
            async with within_patience(self.patience):
                room = await self.room(code)
                before, change = await self._changed(room, transition, finish)
        finally:
            if room is not None:
                await self.catch_up(room)
        if change is not None and self.on_change is not None:
            await self._followed_up(room, before, self.on_change(room, before.state, change))
        return room

    async def _changed(
        self, room: Room, transition: Transition, finish: RaceFinish | None
    ) -> tuple[Known, Change | None]:
        """The table before the change, and the change, durable now."""
        async with room.lock:
            known = room.state
            try:
                if room.in_doubt:
                    await self._reload(room)
                is_sure = self.is_alone()
                for attempt in range(ATTEMPTS):
                    before = room.known
                    try:
                        change = transition(before.state, self._clock.now())
                    except Refusal:
                        # a no to what this node thinks may be a yes to what there is
                        if is_sure or not await self._reload(room):
                            raise
                        is_sure = True
                        continue
                    if change is None or await self._saved(
                        room, before.state, change.table, finish
                    ):
                        return before, change
                    if attempt >= CALM:
                        await asyncio.sleep(secrets.randbelow(attempt) * BREATH)
                    await self._reload(room)
                raise Refusal("store_unavailable", "Too many changes at once. Try again.")
            finally:
                self._set_timer(room)
                self._tell_if_changed(room, known)

    async def catch_up(self, room: Room) -> None:
        """Do what changes mean that this node has not followed up yet."""
        while room.behind is not None and self.on_caught_up is not None:
            known, room.behind = room.behind, None
            if not await self._followed_up(room, known, self.on_caught_up(room, known.state)):
                return

    async def _followed_up(self, room: Room, known: Known, follow_up: Awaitable[None]) -> bool:
        """Whether what the change means is done; if not, the next look over the floor does it.

        The change stands whatever goes wrong here: it is no answer to anybody's command.
        """
        is_done = False
        try:
            is_done = await guarded(follow_up)
        finally:
            if not is_done:
                room.falls_behind(known)
        return is_done

    async def _saved(
        self, room: Room, before: TableState, after: TableState, finish: RaceFinish | None
    ) -> bool:
        try:
            saved = await self._store.save_table(self._write(room, before, after, finish))
        except BaseException:  # called off while it was on its way, it may have been made
            room.in_doubt = True
            raise
        if saved:
            room.state = after
            room.version += 1
        return saved

    def _tell_if_changed(self, room: Room, known: TableState) -> None:
        if rules.public_view(known, 0) != rules.public_view(room.state, 0):
            changed = TableChanged(table=room.picture(), now=self._clock.now())
            self._hub.tell_table(room.code, changed)

    def is_behind(self, code: str, version: int) -> bool:
        """Somebody tells of this version: whether the table, held here, is to be read for it."""
        if (arrival := self._arrivals.get(code)) is not None:
            arrival.promised = max(version, arrival.promised)
        room = self._rooms.get(code)
        if room is None or version <= max(room.version, room.heard):
            return False
        room.heard = version
        return True

    async def changed_elsewhere(self) -> list[str]:
        """The tables held here of which the store has another version."""
        changed = []
        held = [(room.code, room.version) for room in self.rooms()]
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
        room = self._rooms.get(code)
        if room is None:
            return
        try:
            async with within_patience(self.patience), room.lock:
                if version is None or room.version < version:
                    await self._read_again(room)
        except StoreUnavailable:
            room.in_doubt = True
            raise
        await self.catch_up(room)

    async def _read_again(self, room: Room) -> None:
        known = room.state
        await self._reload(room)
        self._set_timer(room)
        self._tell_if_changed(room, known)

    async def elapse(self, code: str, dead_nodes: frozenset[str]) -> Room:
        """Let the time that has passed have its effect on the table."""

        def passed(state: TableState, now: Millis) -> Change | None:
            return rules.elapse(state, now, self._seed(), dead_nodes, self._clock.since)

        room = await self.change(code, passed)
        self._set_timer(room)
        return room

    def forget_unused(self, node: str) -> None:
        """Let go of tables that nobody here follows, where nothing is going on or left undone."""
        # with others about, a race that nobody here follows is looked after where it is followed
        ours_alone = (Phase.COUNTDOWN, Phase.RUNNING) if self.is_alone() else ()
        for room in self.rooms():
            state = room.state
            runs = state.phase in ours_alone
            busy = runs or room.lock.locked()
            undone = room.in_doubt or room.behind is not None
            ours = any(seat.node == node for seat in state.seats)
            if not (busy or undone or ours or self._hub.audience(room.code)):
                self.forget(room.code)

    async def close(self) -> None:
        """Ring no more, and wait for what has been rung."""
        for code in list(self._rooms):
            self.forget(code)
        await asyncio.gather(*self._bells, return_exceptions=True)

    def forget(self, code: str) -> None:
        """Let go of a table that nobody here needs; the store still has it."""
        room = self._rooms.pop(code, None)
        if room is not None and room.timer is not None:
            room.timer.cancel()

    def _write(
        self, room: Room, before: TableState, after: TableState, finish: RaceFinish | None
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
            code=room.code,
            expected=room.version,
            body=rules.pack(after),
            due=rules.due(after),
            epochs=fences,
            race=after.race,
            opening=opening,
            finish=finish,
            unraced=after.phase is Phase.CLOSED and rules.never_raced(after),
        )

    async def _reload(self, room: Room) -> bool:
        """Read the table again; if it is not what this node knew (True), there is to be caught up."""
        stored = await self._store.load_table(room.code)
        if stored is None:
            self.forget(room.code)
            raise Refusal("no_such_table")
        known, room.in_doubt = room.known, False
        version, body = stored
        if version == room.version:
            return False
        try:
            room.version, room.state = version, read_table(body)
        except Refusal:
            self.forget(room.code)
            raise
        room.falls_behind(known)
        return True

    def _set_timer(self, room: Room) -> None:
        """Have `on_due` called when the next timer of the table runs out."""
        if room.timer is not None:
            room.timer.cancel()
            room.timer = None
        due = rules.due(room.state)
        if due is not None and self.on_due is not None and room.code in self._rooms:
            loop = asyncio.get_running_loop()
            wait = self._clock.seconds_until(due) + 0.001
            if due not in (room.state.start_at, room.state.deadline) and not self.is_alone():
                # whoever rings first spares the others the work
                wait += secrets.randbelow(APART) / 1000
            room.timer = loop.call_later(wait, self._ring, room.code)

    def _ring(self, code: str) -> None:
        if self.on_due is not None:
            bell = asyncio.ensure_future(self.on_due(code))
            self._bells.add(bell)
            bell.add_done_callback(self._bells.discard)
