"""A session: one connection with its player, its seat and the tables it follows."""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from saratoga_protocol.codec import Codec
from saratoga_protocol.events import Event
from saratoga_protocol.refusals import TAKEN_OVER
from saratoga_server.domain.tables import TableSeat
from saratoga_server.limits import Quota, unlimited
from saratoga_server.ports import Millis

if TYPE_CHECKING:
    from saratoga_server.transport.connection import PlayerConnection


class Session(Struct, eq=False):
    """A connection and its player."""

    connection: "PlayerConnection"
    """Sending never waits; a client that does not read is disconnected."""
    codec: Codec
    address: str
    number: int
    """The number of the connection on this node, for the logs."""
    player: str = ""
    """The player's id; empty until the hello."""
    hello: int = 0
    """The number of the hello; newer connections of the player have higher numbers."""
    name: str | None = None
    bot: bool = False
    level: str = ""
    """How strong the bot is, by its own account; empty if unknown, or for a person."""
    refused_hellos: int = 0
    hello_begun: bool = False
    """True if a hello has come since the connection was last asked for one."""
    legal: bool = False
    """True if the client asked for the legal moves with every view."""
    home: str | None = None
    """The table where the player had a seat at the hello."""
    seat: str | None = None
    """The table where this connection holds the player's seat."""
    lost_seat: str = ""
    """Why this connection lost its last seat, as its player was told; empty if it did not."""
    epoch: int = 0
    """The epoch of that seat: a fence, larger for newer connections."""
    claimed: int = 0
    """The epoch with which this connection last requested a seat; the reply may have been lost."""
    active_at: Millis = Millis(0)
    """The time of the player's last sign of activity on this connection, apart from moves."""
    watching: frozenset[str] = frozenset()
    """The tables that the connection watches."""
    quota: Quota = field(default_factory=unlimited)
    """The connection's share of the rate limits."""

    def has_lost(self, seat: TableSeat) -> bool:
        """Return whether a newer connection holds the seat that this one held.

        A seat that this connection asked for is its own, even if the reply was lost.
        """
        if (seat.hello, seat.epoch) == (self.hello, self.claimed):
            self.epoch = self.claimed
        return self.epoch < seat.epoch

    def lose_to_newer(self) -> None:
        """Close the connection, because a newer one holds the seat."""
        self.seat = None
        self.connection.close(TAKEN_OVER)

    def send(self, event: Event) -> None:
        """Send one event."""
        self.connection.send(self.codec.encode(event))
