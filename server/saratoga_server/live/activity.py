"""Signs of activity: what shows that a player who sends no other command is there.

A sign is noted in memory and stored soon after, so that every node sees it and it survives this
node's death: with the board in a race, at the seat between races, where only a host must show
activity (`domain.tables.hosts`). A move, and a command at the table, store the time by themselves.
"""

from collections.abc import Awaitable
from typing import Final

from saratoga_rules.records.standing import IDLE_MILLIS, State
from saratoga_server.background_tasks import run_each_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.live.races import RaceCache
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.ports import Millis
from saratoga_server.store.boards import BoardStore

STORE_MILLIS: Final = 20_000
"""Milliseconds between two stored signs of a racer."""

SEAT_MILLIS: Final = IDLE_MILLIS // 3
"""Milliseconds between two stored signs at a seat; far fewer than `IDLE_MILLIS`."""


class Activity:
    """The signs of activity of the players who are connected to this node."""

    def __init__(
        self,
        store: BoardStore,
        table_cache: TableCache,
        table_service: TableService,
        races: RaceCache,
        clock: ServerClock,
    ) -> None:
        self._store = store
        self._table_cache = table_cache
        self._table_service = table_service
        self._races = races
        self._clock = clock
        self._unstored: dict[tuple[str, str], BoardRun] = {}
        """The runs with a sign that is not stored yet, by race id and player."""
        self._seated: dict[tuple[str, str], Millis] = {}
        """The last signs between races that may not be stored yet, by table and player."""

    def note(self, session: Session) -> None:
        """Note a sign of the session's player, if the player has a seat.

        In a race, only if the player races or the board has ended as idle.
        """
        table = self._table_cache.known(session.seat) if session.seat else None
        if table is None:
            return
        if table.state.phase in tables.BETWEEN_RACES:
            self._seated[table.code, session.player] = self._clock.now()
            return
        race = self._races.known(table.state.race_id)
        run = None if race is None else race.runs.get(session.player)
        if race is None or run is None:
            return
        if run.standing.state in (State.RACING, State.IDLE):
            run.active_at = max(run.active_at, self._clock.now())
            self._unstored[race.id, run.player] = run

    async def store(self) -> None:
        """Store the signs for which it is time, once a second."""
        writes: list[Awaitable[object]] = []
        for (race_id, player), run in list(self._unstored.items()):
            race = self._races.known(race_id)
            if race is None or run.active_at <= run.stored_sign:
                del self._unstored[race_id, player]
            elif (
                run.standing.state is State.IDLE
                or self._clock.now() - run.stored_sign >= STORE_MILLIS
            ):
                writes.append(self._store_one(race, run))
        for (code, player), at in list(self._seated.items()):
            table = self._table_cache.known(code)
            seat = None if table is None else table.state.seat(player)
            if seat is None or at <= seat.active_at:
                del self._seated[code, player]
            elif self._clock.now() - seat.active_at >= SEAT_MILLIS:
                writes.append(self._store_at_seat(code, player))
        await run_each_logged(writes)

    async def _store_one(self, race: LiveRace, run: BoardRun) -> None:
        at = run.active_at
        await self._store.note_active(race.code, race.number, run.player, at)
        run.stored_active_at = max(run.stored_active_at, at)

    async def _store_at_seat(self, code: str, player: str) -> None:
        at = self._seated[code, player]
        await self._table_service.change(
            code, lambda state, now: tables.active(state, player, at, now=now)
        )
        if self._seated.get((code, player)) == at:
            del self._seated[code, player]
