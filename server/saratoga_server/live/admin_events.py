"""Apply administrative actions to the connections of this node.

The administrator's command has already changed the data in the store (`admin.acts`).
"""

from saratoga_protocol.events import Announcement
from saratoga_protocol.refusals import BANNED, DELETED, STORE_LOST_DATA, CloseCode
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, TableState
from saratoga_server.live.broadcaster import Broadcaster, send_to_all
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
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
    """The part that applies administrative actions to this node's connections."""

    def __init__(
        self,
        table_cache: TableCache,
        table_service: TableService,
        seats: Seats,
        leaderboards: Leaderboards,
        broadcaster: Broadcaster,
        new_seed: NewSeed,
    ) -> None:
        self._table_cache = table_cache
        self._table_service = table_service
        self._seats = seats
        self._leaderboards = leaderboards
        self._broadcaster = broadcaster
        self._new_seed = new_seed

    async def apply(self, event: AdminEvent) -> None:
        """Apply one action."""
        match event:
            case Announce(text):
                send_to_all(self._broadcaster.sessions, Announcement(text=text))
            case TableClosedByAdmin(table, reason):
                await self._close(table, reason)
            case Banned(player):
                for session in self._broadcaster.sessions_of(player):
                    await self._disconnect(session, BANNED)
            case Forgotten(player):
                for session in self._broadcaster.sessions_of(player):
                    await self._disconnect(session, DELETED)
            case Renamed(player, name):
                # the tables' own change events show it
                for session in self._broadcaster.sessions_of(player):
                    session.name = name
            case RaceVoided(_, game):
                self._leaderboards.changed(game)

    async def check(self, session: Session, row: PlayerRow | None) -> None:
        """Apply a player's row to a connection.

        The row is `None` if the store has lost it, or if the player was deleted: the connection is closed, and
        the next hello makes a new player.
        """
        if row is None:
            await self._disconnect(session, STORE_LOST_DATA)
        elif row.banned:
            await self._disconnect(session, BANNED)
        else:
            session.name = row.name

    async def _close(self, code: str, reason: str) -> None:
        await self._table_service.refresh(
            code
        )  # this event may arrive before the table's change event
        table = self._table_cache.known(code)
        if table is not None:
            self._seats.closed(table, reason)
            self._table_cache.forget(code)

    async def _disconnect(self, session: Session, code: CloseCode) -> None:
        """Close the connection and free the seat."""
        session.connection.close(code)
        if session.seat is None:
            return

        def left(state: TableState, now: Millis) -> Change | None:
            return tables.force_leave(state, session.player, now=now, fresh_seed=self._new_seed())

        await self._table_service.change(session.seat, left)
