"""The health of a store, as the metrics show it."""

from msgspec import Struct


class StoreHealth(Struct, frozen=True, kw_only=True):
    """The health of the store; only the name is set if it does not answer."""

    primary: str
    is_up: bool
    memory: int = 0
    """The memory in use, in bytes."""
    memory_limit: int = 0
    """The store's maxmemory in bytes; 0 = unlimited."""
    replicas: int = 0
    """The number of replicas in sync."""
    is_appending: bool = False
    """True if its last write to its append-only file succeeded; false if the disk is full."""
    file_size: int = 0
    """The size of the append-only files in bytes."""
