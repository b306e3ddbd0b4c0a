"""What an administrator has done, felt on this node at once.

The act is in the data already (`acts`); this is about those who are connected here.
"""

from saratoga_protocol.events import Announcement
from saratoga_protocol.refusals import BANNED
from saratoga_server import table as rules
from saratoga_server.floor.floor import Floor, fresh_seed
from saratoga_server.floor.hub import Hub, tell_all
from saratoga_server.floor.session import Session
from saratoga_server.house.lobby import Lobby
from saratoga_server.parcels.nudges import (
    Announce,
    Banned,
    Forgotten,
    Order,
    RaceVoided,
    Renamed,
    TableClosedByAdmin,
)
from saratoga_server.ports import Millis, PlayerRow
from saratoga_server.racing.archive import Archive
from saratoga_server.table import Change, TableState


class Orders:
    """Carries administrators' acts to the connections of this node."""

    def __init__(self, floor: Floor, lobby: Lobby, archive: Archive, hub: Hub) -> None:
        self._floor = floor
        self._lobby = lobby
        self._archive = archive
        self._hub = hub

    async def obey(self, order: Order) -> None:
        """Let one act be felt."""
        match order:
            case Announce(text):
                tell_all(self._hub.sessions, Announcement(text=text))
            case TableClosedByAdmin(table, reason):
                await self._close(table, reason)
            case Banned(player) | Forgotten(player):
                for session in self._hub.sessions_of(player):
                    await self._turn_out(session)
            case Renamed(player, name):
                # the tables say by themselves that they have changed
                for session in self._hub.sessions_of(player):
                    session.name = name
            case RaceVoided(_, game):
                self._archive.leaderboard_changed(game)

    async def _close(self, code: str, reason: str) -> None:
        await self._floor.refresh(code)  # it may come before the table's own nudge
        room = self._floor.known(code)
        if room is not None:
            await self._lobby.closed(room, reason)
            self._floor.forget(code)

    async def check(self, session: Session, row: PlayerRow | None) -> None:
        """Let what the data says of a player be felt by a connection; `None`: deleted on request."""
        if row is None or row.banned:
            await self._turn_out(session)
        else:
            session.name = row.name

    async def _turn_out(self, session: Session) -> None:
        """Close the connection, and let the seat go."""
        session.line.close(BANNED)
        if session.seat is None:
            return

        def left(table: TableState, now: Millis) -> Change | None:
            seat = table.seat(session.player)
            if seat is None:
                return None
            return rules.leave(
                table, session.player, seat.last_id + 1, now=now, fresh_seed=fresh_seed()
            )

        await self._floor.change(session.seat, left)
