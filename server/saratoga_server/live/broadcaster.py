"""Who follows what on this node, and the words that go to many.

Rivals' standings are latest-value data: they are gathered per table and sent at most once a
tick, encoded once for all who speak the same encoding.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from saratoga_protocol.codec import Codec
from saratoga_protocol.events import AnyEvent, Standings
from saratoga_server.live.session import Session

TICK: Final = 0.2
"""Seconds between two looks at which standings have changed (design: at most 0.25)."""


TOLD_AT_ONCE: Final = 8
"""Tables: about a millisecond."""


def send_to_all(sessions: Iterable[Session], event: AnyEvent) -> None:
    """Send one event to many connections, encoding it once per encoding."""
    frames: dict[int, bytes | str] = {}
    for session in sessions:
        codec: Codec = session.codec
        frame = frames.get(id(codec))
        if frame is None:
            frame = frames[id(codec)] = codec.encode_event(event)
        session.connection.send(frame)


class Broadcaster:
    """The audiences of this node: seated players and watchers by table, and everybody."""

    def __init__(self) -> None:
        self.sessions: set[Session] = set()
        self._audiences: dict[str, set[Session]] = {}
        self._followed: dict[Session, tuple[str, ...]] = {}
        self._changed: dict[str, Callable[[], Standings | None]] = {}

    def enter(self, session: Session) -> None:
        """A connection is there."""
        self.sessions.add(session)

    def leave(self, session: Session) -> None:
        """A connection is gone, and follows nothing any more."""
        self.sessions.discard(session)
        for code in self._followed.get(session, ()):
            self.unfollow(session, code)

    def sessions_of(self, player: str) -> list[Session]:
        """Every connection of the player on this node."""
        return [session for session in self.sessions if session.player == player]

    def follow(self, session: Session, code: str) -> None:
        self._audiences.setdefault(code, set()).add(session)
        followed = self._followed.get(session, ())
        if code not in followed:
            self._followed[session] = (*followed, code)

    def unfollow(self, session: Session, code: str) -> None:
        audience = self._audiences.get(code)
        if audience is not None:
            audience.discard(session)
            if not audience:
                del self._audiences[code]
        followed = tuple(each for each in self._followed.get(session, ()) if each != code)
        if followed:
            self._followed[session] = followed
        else:
            self._followed.pop(session, None)

    def audience(self, code: str) -> frozenset[Session]:
        """Everyone on this node who follows the table."""
        return frozenset(self._audiences.get(code, ()))

    def is_following(self, player: str, code: str) -> bool:
        """Whether a connection of the player's on this node follows the table."""
        return any(session.player == player for session in self._audiences.get(code, ()))

    def followed(self) -> list[str]:
        """The tables that somebody on this node follows."""
        return list(self._audiences)

    def tell_table(self, code: str, event: AnyEvent) -> None:
        send_to_all(self._audiences.get(code, ()), event)

    def standings_changed(self, code: str, standings: Callable[[], Standings | None]) -> None:
        """Have the table's standings sent at the next tick; `standings` is asked for them then."""
        self._changed[code] = standings

    def standings_settled(self, code: str) -> None:
        """The race is over: what its table has to know is told otherwise."""
        self._changed.pop(code, None)

    def tick(self) -> None:
        """Send the standings that have changed since the last tick."""
        for _ in self.ticks():
            pass

    def ticks(self) -> Iterator[None]:
        """The same, with a pause after every `TOLD_AT_ONCE` tables for whoever has other work."""
        for number, code in enumerate(list(self._changed), start=1):
            standings = self._changed.pop(code, None)
            audience = self._audiences.get(code)
            event = standings() if standings is not None and audience else None
            if audience and event is not None:
                send_to_all(audience, event)
            if number % TOLD_AT_ONCE == 0:
                yield
