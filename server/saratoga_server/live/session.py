"""One connection: its player, its seat, and what it follows."""

from typing import Protocol

from msgspec import Struct, field

from saratoga_protocol.codec import Codec
from saratoga_protocol.events import AnyEvent
from saratoga_protocol.refusals import NO_HELLO, TAKEN_OVER, CloseCode
from saratoga_server.domain.tables import TableSeat
from saratoga_server.rate_limits.limiter import Quota, unlimited


class ConnectionPort(Protocol):
    """The way to the player. Sending never waits: a client that does not read is disconnected."""

    @property
    def is_open(self) -> bool:
        """Whether the player may still be there: no end was seen, and no close was sent."""
        ...

    def send(self, frame: bytes | str) -> None: ...

    def close(self, code: CloseCode) -> None:
        """Close the connection; nothing is sent any more."""
        ...

    def leave(self, code: CloseCode) -> None:
        """Close the connection when the command under way is answered."""
        ...


class Session(Struct, eq=False):
    """A connection and its player."""

    connection: ConnectionPort
    codec: Codec
    address: str
    number: int
    """Of the connection on this node, for the logs."""
    player: str = ""
    """Empty until the hello."""
    hello: int = 0
    """The number of the hello: a newer connection of the player has a higher one."""
    name: str | None = None
    bot: bool = False
    refused_hellos: int = 0
    legal: bool = False
    """Wants the legal moves with every view."""
    home: str | None = None
    """The table where the player had a seat at the hello."""
    seat: str | None = None
    """The table where this connection holds the player's seat."""
    epoch: int = 0
    """The fence of that seat: a newer connection has a larger one."""
    claimed: int = 0
    """The fence with which it last asked for a seat: the reply may have been lost."""
    watching: frozenset[str] = frozenset()
    """Tables followed without a seat."""
    quota: Quota = field(default_factory=unlimited)
    """What it may still do."""

    def has_lost(self, seat: TableSeat) -> bool:
        """Whether a newer connection has the seat that this one had.

        A seat that this connection asked for is its own, though the reply was lost.
        """
        if (seat.hello, seat.epoch) == (self.hello, self.claimed):
            self.epoch = self.claimed
        return self.epoch < seat.epoch

    @property
    def holds_seat(self) -> bool:
        """Whether this connection holds a seat."""
        return self.seat is not None

    def evict(self) -> None:
        """Close the connection: a newer one needs the room."""
        self.connection.close(TAKEN_OVER if self.player else NO_HELLO)

    def tell(self, event: AnyEvent) -> None:
        """Send one event."""
        self.connection.send(self.codec.encode_event(event))
