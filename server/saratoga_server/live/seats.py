"""Tell this node's connections of lost seats."""

from saratoga_protocol.events import SeatLost
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.live_table import LiveTable


class Seats:
    """The part that tells this node's connections of lost seats."""

    def __init__(self, broadcaster: Broadcaster) -> None:
        self._broadcaster = broadcaster

    def lost(self, table: LiveTable, player: str, reason: str | None = None) -> None:
        """Handle the loss of a player's seat; `reason` is sent to the player, if given."""
        code = table.code
        if table.state.seat(player) is not None:
            return  # the player has joined again meanwhile
        for session in self._broadcaster.audience(code):
            if session.player == player and session.seat == code:
                session.seat = None
                self._broadcaster.unfollow(session, code)
                if reason is not None:
                    session.lost_seat = reason
                    session.send(SeatLost(table=code, reason=reason))

    def closed(self, table: LiveTable, reason: str) -> None:
        """Handle the loss of every seat and watcher of a closed table."""
        # all at once: nobody is told twice, and no command finds a seat that is lost
        for session in self._broadcaster.audience(table.code):
            session.send(SeatLost(table=table.code, reason=reason))
            session.watching -= {table.code}
            if session.seat == table.code:
                session.seat, session.lost_seat = None, reason
            self._broadcaster.unfollow(session, table.code)
