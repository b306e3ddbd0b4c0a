"""Retention: deletes what was kept long enough (`keys.py`), while the clocks can be trusted."""

from msgspec import Struct

from saratoga_server.ports import Millis
from saratoga_server.store.keys import CLOCK_JUMP, CLOCKS_WITHIN, UNTRUSTED_FOR
from saratoga_server.store.store_client import StoreClient


class Swept(Struct, frozen=True, kw_only=True):
    """The result of one step of the sweeper."""

    done: int
    """The number of entries that were due and are done with."""
    held_until: Millis
    """The time until which due entries are kept because a clock has jumped; 0: none are."""
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


class RetentionStore:
    """The entries of the store that have a time at which they are deleted."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client

    async def sweep(self, node_time: Millis, limit: int) -> Swept:
        """Delete up to `limit` entries that are due, if the store's clock is near `node_time`."""
        done, held, ahead = await self._client.read(
            "sweep", (), node_time, limit, CLOCKS_WITHIN, CLOCK_JUMP, UNTRUSTED_FOR
        )
        return Swept(
            done=done,
            held_until=Millis(held),
            ahead=ahead,
            clocks_differ=abs(ahead) > CLOCKS_WITHIN,
        )
