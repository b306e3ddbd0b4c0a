"""Snapshots: everything that a connection may know about a table."""

from saratoga_protocol.events import BoardView, Snapshot, Standing
from saratoga_server.clock import ServerClock
from saratoga_server.domain import board as boards
from saratoga_server.domain import tables
from saratoga_server.domain.tables import TablePhase
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.races import RaceCache
from saratoga_server.live.session import Session


class Snapshots:
    """A maker of snapshots of tables."""

    def __init__(self, races: RaceCache, clock: ServerClock) -> None:
        self._races = races
        self._clock = clock

    async def snapshot(self, session: Session, command_id: int, table: LiveTable) -> Snapshot:
        """Return the snapshot that answers a command to open, join or watch the table."""
        state = table.state
        seat = state.seat(session.player) if session.seat == table.code else None
        next_id = 1 if seat is None else seat.last_id + 1
        board: BoardView | None = None
        standings: list[Standing] = []
        idle_since = 0
        if state.phase is TablePhase.RUNNING:
            race = await self._races.of(table)
            if seat is not None and session.player in race.runs:
                own = await self._races.latest(race, session.player, is_shown=True)
                board = race.view(own, session.legal)
                if own.racing:
                    active_at = race.runs[session.player].active_at
                    served_since = max(self._clock.since, state.served_since)
                    idle_since = boards.idle_since(own, max(served_since, active_at))
                next_id = max(next_id, own.last_id + 1)
            # the race may have ended meanwhile
            state = table.state
            if state.phase is TablePhase.RUNNING:
                standings = race.standings().standings
            else:
                board, idle_since = None, 0
        host_since = tables.silent_since(state)
        if seat is not None and host_since is not None and session.player == state.host:
            idle_since = max(self._clock.since, host_since)
        return Snapshot(
            re=command_id,
            table=table.view(),
            now=self._clock.now(),
            next_id=next_id,
            board=board,
            standings=standings,
            outcome=state.outcome,
            match=state.match,
            idle_since=idle_since,
        )
