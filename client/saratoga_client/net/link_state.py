"""The state of the link between this program and the server."""

from enum import StrEnum


class LinkState(StrEnum):
    """The state of the link to the server, with the word that the screen shows."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    CLOSED = "closed"
