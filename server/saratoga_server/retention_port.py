"""The port for deleting what was kept long enough."""

from typing import Protocol

from msgspec import Struct

from saratoga_server.ports import Millis


class Swept(Struct, frozen=True, kw_only=True):
    """The result of one step of the sweeper."""

    done: int
    """The number of entries that were due and are done with."""
    held_until: Millis
    """The time until which entries that are due are kept because a clock has jumped; 0: none are."""
    ahead: int
    """Milliseconds by which the store's clock is ahead of the node's."""
    clocks_differ: bool
    """True if entries were kept because the clocks differ too much."""

    @property
    def why_postponed(self) -> str | None:
        """The reason for the log why entries that may be due were kept; `None` if none were."""
        if self.clocks_differ:
            return "clocks_differ"
        return "clock_jumped" if self.held_until else None


class RetentionStore(Protocol):
    """The port for deleting what was kept long enough."""

    async def sweep(self, node_time: Millis, limit: int) -> Swept:
        """Delete up to `limit` entries that are due, if the store's clock shows about `node_time`."""
        ...
