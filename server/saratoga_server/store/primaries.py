"""Which primary owns which key: one owns all of them, or many of a cluster share them."""

from collections.abc import Callable
from dataclasses import dataclass

from redis.asyncio import Redis

from saratoga_server.store.clients import TRIES, open_client


@dataclass(frozen=True, slots=True, eq=False)
class Primary:
    """A store process that takes writes."""

    name: str
    """Its address, for the log; no password in it."""
    url: str
    client: "Redis"
    """Shared by everybody but the commits of moves."""

    def open_client(self, tries: int = 0) -> "Redis":
        """A client of one's own for the same process, to be closed by whom it was made for."""
        return open_client(self.url, tries)


class Primaries:
    """The map of keys to primaries, as far as it is known."""

    def __init__(self, only: Primary) -> None:
        self._only = only
        self._heard: list[Callable[[], None]] = []

    def of(self, key: str | bytes) -> Primary:
        """Who owns the key."""
        return self._only

    def all(self) -> tuple[Primary, ...]:
        """Every primary, each once; at least one."""
        return (self._only,)

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have it called whenever another primary owns a key; returns what ends that."""
        self._heard.append(callback)
        return lambda: self._heard.remove(callback)

    async def refresh(self) -> None:
        """Read the map again, as far as anybody answers."""

    async def close(self) -> None:
        for primary in self.all():
            await primary.client.aclose(close_connection_pool=True)


async def open_primaries(url: str) -> Primaries:
    """The primaries behind an address."""
    name = url.partition("://")[2].partition("?")[0].rpartition("@")[2]
    return Primaries(Primary(name, url, open_client(url, TRIES)))
