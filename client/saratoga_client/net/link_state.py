"""How things stand between the program and the house: a word that everybody may know."""

from enum import StrEnum


class LinkState(StrEnum):
    """How things stand between the program and the house."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    CLOSED = "closed"
