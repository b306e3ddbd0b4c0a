"""How much a machine may lose before an acknowledged move is gone."""

from enum import StrEnum


class Durability(StrEnum):
    """What must have happened to a write before the house says that it has."""

    FAST = "fast"
    """The store took it; synced to disk within the second. Survives a crash of server or store."""
    SAFE = "safe"
    """Synced to disk. Survives a crash of the machine too."""
    REPLICATED = "replicated"
    """Synced to disk, and a replica has it. Survives the loss of the machine."""
