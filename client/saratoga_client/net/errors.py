"""The errors of a connection and of the requests on it."""

from enum import StrEnum

from saratoga_protocol import events


class CommandRefused(Exception):
    """The error that the server refused a command, and (see `events.Refused`) changed nothing."""

    def __init__(self, refusal: events.Refused) -> None:
        super().__init__(f"{refusal.code}: {refusal.message}")
        self.code = refusal.code
        """The code of the reason, from the closed list in `saratoga_protocol.refusals`."""
        self.message = refusal.message
        self.retry = refusal.retry
        """True if the same command may succeed later."""
        self.board = refusal.board
        """The current board, if the refusal includes it."""


class ServerClosed(Exception):
    """The error that the server closed the connection for a reason that rules out reconnecting."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{reason} ({code})")
        self.code = code
        self.reason = reason


class Unreachable(Exception):
    """The error that no server answers at the address, or that it does not speak the protocol."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}")
        self.reason = reason


class Redirected(Unreachable):
    """The error that the address answers with an HTTP redirect, which this program does not follow.

    A followed redirect would give the new server the token for the old one.
    """

    def __init__(self, url: str, location: str) -> None:
        super().__init__(url, f"it sends you to {location}")
        self.location = location
        """The URL in the redirect as the server wrote it, absolute or relative to `url`."""


class RequestTimedOut(Exception):
    """The error that no answer came in time; the server may have carried out the command."""


class UnexpectedAnswer(Exception):
    """The error that the server answered with an event that the protocol does not allow there."""


class ClientClosed(Exception):
    """The error that this program closed its own connection."""


class LinkState(StrEnum):
    """The state of the link to the server, with the word that the screen shows."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    CLOSED = "closed"
