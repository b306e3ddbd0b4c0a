"""What an administrator has done, felt on this node at once.

The act is in the data already (`acts`); this is about those who are connected here.
"""

from saratoga_protocol.events import Announcement
from saratoga_protocol.refusals import BANNED
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, TableState
from saratoga_server.handlers.leaderboards import LeaderboardHandlers
from saratoga_server.handlers.seats import SeatHandlers
from saratoga_server.live.broadcaster import Broadcaster, send_to_all
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache, fresh_seed
from saratoga_server.messages.node_events import (
    AdminEvent,
    Announce,
    Banned,
    Forgotten,
    RaceVoided,
    Renamed,
    TableClosedByAdmin,
)
from saratoga_server.ports import Millis, PlayerRow


class AdminEvents:
    """Carries administrators' acts to the connections of this node."""

    def __init__(
        self,
        table_cache: TableCache,
        lobby: SeatHandlers,
        leaderboards: LeaderboardHandlers,
        broadcaster: Broadcaster,
    ) -> None:
        self._table_cache = table_cache
        self._lobby = lobby
        self._archive = leaderboards
        self._broadcaster = broadcaster

    async def obey(self, order: AdminEvent) -> None:
        """Let one act be felt."""
        match order:
            case Announce(text):
                send_to_all(self._broadcaster.sessions, Announcement(text=text))
            case TableClosedByAdmin(table, reason):
                await self._close(table, reason)
            case Banned(player) | Forgotten(player):
                for session in self._broadcaster.sessions_of(player):
                    await self._turn_out(session)
            case Renamed(player, name):
                # the tables say by themselves that they have changed
                for session in self._broadcaster.sessions_of(player):
                    session.name = name
            case RaceVoided(_, game):
                self._archive.leaderboard_changed(game)

    async def _close(self, code: str, reason: str) -> None:
        await self._table_cache.refresh(code)  # it may come before the table's own nudge
        live_table = self._table_cache.known(code)
        if live_table is not None:
            await self._lobby.closed(live_table, reason)
            self._table_cache.forget(code)

    async def check(self, session: Session, row: PlayerRow | None) -> None:
        """Let what the data says of a player be felt by a connection; `None`: deleted on request."""
        if row is None or row.banned:
            await self._turn_out(session)
        else:
            session.name = row.name

    async def _turn_out(self, session: Session) -> None:
        """Close the connection, and let the seat go."""
        session.connection.close(BANNED)
        if session.seat is None:
            return

        def left(table: TableState, now: Millis) -> Change | None:
            seat = table.seat(session.player)
            if seat is None:
                return None
            return tables.leave(
                table, session.player, seat.last_id + 1, now=now, fresh_seed=fresh_seed()
            )

        await self._table_cache.change(session.seat, left)
