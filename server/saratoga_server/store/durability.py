"""The levels of durability."""

from enum import StrEnum


class Durability(StrEnum):
    """What a move has survived when it is acknowledged."""

    FAST = "fast"
    """A crash of the server; a crash of the store or the machine may cost the last seconds."""
    SAFE = "safe"
    """A crash of the machine too: the store has written and synced it."""
    REPLICATED = "replicated"
    """The loss of the store's machine too: a replica has it as well."""
