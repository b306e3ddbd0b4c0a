"""The levels of durability."""

from enum import StrEnum


class Durability(StrEnum):
    """A level of durability: what an acknowledged move survives."""

    FAST = "fast"
    """A move survives a crash of the server. Others may lose the last seconds."""
    SAFE = "safe"
    """A move also survives a crash of the machine, because the store has synced it to its disk."""
    REPLICATED = "replicated"
    """A move also survives the loss of the store's machine, because a replica has the move."""
