"""How much a machine may lose before an acknowledged move is gone."""

from enum import StrEnum


class Durability(StrEnum):
    """What a move has survived when it is acknowledged."""

    FAST = "fast"
    """A crash of the server or of the store; a crash of the machine may cost the last second."""
    SAFE = "safe"
    """A crash of the machine too: the store has written and synced it."""
    REPLICATED = "replicated"
    """The loss of the store's machine too: a replica has it as well."""
