"""The levels of durability."""

from enum import StrEnum


class Durability(StrEnum):
    """A level of durability: what an acknowledged move survives."""

    FAST = "fast"
    """A crash of the server; a crash of the store or the machine may cost the last seconds."""
    SAFE = "safe"
    """A crash of the machine too: the store has synced the move to its disk."""
    REPLICATED = "replicated"
    """The loss of the store's machine too: a replica has the move."""
