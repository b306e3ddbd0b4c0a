"""Signs of activity: what shows that a racer who makes no move is there.

A sign is noted in memory and stored soon after, so that every node sees it and it survives this node's death.
A player's signs are stored at most every `STORE_MILLIS`; a move stores the time by itself.
"""

from typing import Final

from saratoga_rules.records.standing import State
from saratoga_server.background_tasks import run_each_logged
from saratoga_server.clock import ServerClock
from saratoga_server.live.live_race import BoardRun, LiveRace
from saratoga_server.live.races import RaceCache
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.ports import BoardStore

STORE_MILLIS: Final = 20_000
"""Milliseconds between two stored signs of a player."""


class Activity:
    """The signs of activity of the racers who are connected to this node."""

    def __init__(
        self, store: BoardStore, table_cache: TableCache, races: RaceCache, clock: ServerClock
    ) -> None:
        self._store = store
        self._table_cache = table_cache
        self._races = races
        self._clock = clock
        self._unstored: dict[tuple[str, str], BoardRun] = {}
        """The runs with a sign that is not stored yet, by race id and player."""

    def note(self, session: Session) -> None:
        """Note a sign of the session's player, if the player races or the board has ended as idle."""
        table = self._table_cache.known(session.seat) if session.seat else None
        race = None if table is None else self._races.known(table.state.race_id)
        run = None if race is None else race.runs.get(session.player)
        if race is None or run is None:
            return
        if run.standing.state in (State.RACING, State.IDLE):
            run.active_at = max(run.active_at, self._clock.now())
            self._unstored[race.id, run.player] = run

    async def store(self) -> None:
        """Store the signs for which it is time, once a second."""
        writes = []
        for (race_id, player), run in list(self._unstored.items()):
            race = self._races.known(race_id)
            if race is None or run.active_at <= run.stored_sign:
                del self._unstored[race_id, player]
            elif (
                run.standing.state is State.IDLE
                or self._clock.now() - run.stored_sign >= STORE_MILLIS
            ):
                writes.append(self._store_one(race, run))
        await run_each_logged(writes)

    async def _store_one(self, race: LiveRace, run: BoardRun) -> None:
        at = run.active_at
        await self._store.note_active(race.code, race.number, run.player, at)
        run.stored_active_at = max(run.stored_active_at, at)
