"""Send events to all connections that follow a table.

Standings are latest-value data: they are coalesced per table, sent at most once per tick, and
encoded once for each encoding.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from saratoga_protocol.codec import Codec
from saratoga_protocol.events import Announcement, Event, Standings
from saratoga_protocol.refusals import STORE_LOST_DATA
from saratoga_server.domain.tables import TableState
from saratoga_server.live.session import Session

TICK: Final = 0.25
"""Seconds between two sends of changed standings: the protocol promises at most four a second."""

TABLES_AT_ONCE: Final = 8
"""Tables whose standings are sent in one turn of the event loop: about a millisecond."""


def send_loss(sessions: Iterable[Session], text: str) -> None:
    """Tell players that the store has lost their data; they come back and are sent what it has.

    A correction of what they have would be ignored: it has a lower version or fewer moves.
    """
    for session in sessions:
        session.send(Announcement(text=text))
        session.connection.leave(STORE_LOST_DATA)


def send_to_all(sessions: Iterable[Session], event: Event) -> None:
    """Send one event to many connections, encoded once per encoding."""
    frames: dict[int, bytes | str] = {}
    for session in sessions:
        codec: Codec = session.codec
        frame = frames.get(id(codec))
        if frame is None:
            frame = frames[id(codec)] = codec.encode(event)
        session.connection.send(frame)


class Broadcaster:
    """The audiences on this node: the connections that follow each table, and all connections."""

    def __init__(self) -> None:
        self.sessions: set[Session] = set()
        self._audiences: dict[str, set[Session]] = {}
        self._changed: dict[str, Callable[[], Standings | None]] = {}

    def enter(self, session: Session) -> None:
        """Add a new connection."""
        self.sessions.add(session)

    def leave(self, session: Session) -> None:
        """Remove a connection that has ended."""
        self.sessions.discard(session)
        for code in [code for code, each in self._audiences.items() if session in each]:
            self.unfollow(session, code)

    def sessions_of(self, player: str) -> list[Session]:
        """Return every connection of the player on this node."""
        return [session for session in self.sessions if session.player == player]

    def follow(self, session: Session, code: str) -> None:
        self._audiences.setdefault(code, set()).add(session)

    def unfollow(self, session: Session, code: str) -> None:
        audience = self._audiences.get(code)
        if audience is not None:
            audience.discard(session)
            if not audience:
                del self._audiences[code]

    def audience(self, code: str) -> frozenset[Session]:
        """Return every connection on this node that follows the table."""
        return frozenset(self._audiences.get(code, ()))

    def holds_seat(self, player: str, code: str) -> bool:
        """Return whether a connection of the player on this node holds a seat at the table."""
        audience = self._audiences.get(code, ())
        return any(each.player == player and each.seat == code for each in audience)

    def close_replaced(self, state: TableState) -> None:
        """Close the connections whose seat a newer connection has taken over.

        They must be sent nothing about a seat that is no longer theirs, such as that its player has
        left.
        """
        for session in self.audience(state.code):
            seat = state.seat(session.player) if session.seat == state.code else None
            if seat is not None and session.has_lost(seat):
                session.lose_to_newer()

    def close_older(self, player: str, code: str, epoch: int) -> None:
        """Close the player's connections whose epoch is below that of the stored board."""
        for session in self.audience(code):
            is_seated = session.player == player and session.seat == code
            if is_seated and max(session.epoch, session.claimed) < epoch:
                session.lose_to_newer()

    def send_to_table(self, code: str, event: Event) -> None:
        send_to_all(self._audiences.get(code, ()), event)

    def standings_changed(self, code: str, standings: Callable[[], Standings | None]) -> None:
        """Send the table's standings at the next tick, as `standings` returns them then."""
        self._changed[code] = standings

    def standings_settled(self, code: str) -> None:
        """Cancel the table's pending standings: its race is over."""
        self._changed.pop(code, None)

    def send_standings(self) -> Iterator[None]:
        """Send the standings that have changed since the last tick, in slices."""
        for number, code in enumerate(list(self._changed), start=1):
            standings = self._changed.pop(code, None)
            audience = self._audiences.get(code)
            event = standings() if standings is not None and audience else None
            if audience and event is not None:
                send_to_all(audience, event)
            if number % TABLES_AT_ONCE == 0:
                yield
