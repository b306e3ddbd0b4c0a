"""A node's way to its store: a socket of its own that can be cut and can go dead."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kit.relays import Exchange, open_unix_exchange, to_socket


class StoreWay:
    """Passes on between a node and the store's socket."""

    def __init__(self, store: Path, socket: Path) -> None:
        self.url = f"unix://{socket}"
        self.exchange = Exchange(to_socket(store))

    @property
    def connections(self) -> int:
        """Open now."""
        return sum(relay.is_open for relay in self.exchange.relays)

    def cut(self) -> None:
        """Every connection breaks."""
        for relay in list(self.exchange.relays):
            relay.cut()

    def go_dead(self) -> None:
        """Half-open: every connection there is swallows all that is said; new ones may be made."""
        for relay in self.exchange.relays:
            relay.swallows = True

    def drop_dead_ends(self) -> None:
        """The store hears at last that those who were cut off have gone."""
        for relay in list(self.exchange.relays):
            if relay.swallows:
                relay.cut()


@asynccontextmanager
async def store_way(store: Path, socket: Path) -> AsyncIterator[StoreWay]:
    """A way that may be gone while entered."""
    way = StoreWay(store, socket)
    async with open_unix_exchange(way.exchange, socket):
        yield way
