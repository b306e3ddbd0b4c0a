"""The timeouts and intervals of a connection to a server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """The timeouts and intervals of a connection, in seconds."""

    first_within: float = 10.0
    """The limit for the first connection; reconnecting has no limit."""
    greet_within: float = 8.0
    """The limit for opening the socket, and again for the hello and the subscriptions."""
    heartbeat_every: float = 2.0
    silence: float = 6.0
    """The time without any frame after which the connection counts as lost.

    A server sends something at least every two seconds.
    """
    answer_within: float = 30.0
    """The limit for the answer to a command, reconnecting included."""
    steady_after: float = 5.0
    """Once a connection has lasted this long, earlier failures no longer lengthen the wait."""
