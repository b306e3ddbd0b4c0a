"""A node's way to its store: a socket of its own that can be cut and can go dead."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from kit.relays import End, Relay


class StoreWay:
    """Passes on between a node and the store's socket."""

    def __init__(self, store: Path, socket: Path) -> None:
        self.url = f"unix://{socket}"
        self._store = store
        self._relays: set[Relay] = set()
        self._calls: set[asyncio.Task[None]] = set()

    @property
    def connections(self) -> int:
        """Open now."""
        return sum(relay.is_open for relay in self._relays)

    def accept(self) -> asyncio.Protocol:
        relay = Relay(self._relays.discard)
        self._relays.add(relay)
        call = asyncio.ensure_future(relay.connect(self._dial))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        return relay.near_end()

    async def _dial(self, end: Callable[[], End]) -> asyncio.Transport:
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_unix_connection(end, str(self._store))
        return transport

    def cut(self) -> None:
        """Every connection breaks."""
        for relay in list(self._relays):
            relay.cut()

    def go_dead(self) -> None:
        """Half-open: every connection there is swallows all that is said; new ones may be made."""
        for relay in self._relays:
            relay.swallows = True

    def drop_dead_ends(self) -> None:
        """The store hears at last that those who were cut off have gone."""
        for relay in list(self._relays):
            if relay.swallows:
                relay.cut()

    async def close(self) -> None:
        for call in list(self._calls):
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        self.cut()


@asynccontextmanager
async def store_way(store: Path, socket: Path) -> AsyncIterator[StoreWay]:
    """A way that may be gone while entered."""
    way = StoreWay(store, socket)
    server = await asyncio.get_running_loop().create_unix_server(way.accept, str(socket))
    try:
        yield way
    finally:
        server.close()
        await way.close()
        await server.wait_closed()
