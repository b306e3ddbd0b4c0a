"""The channel for events between nodes: one pub/sub channel of the store.

The store publishes there too: a Function that changes a table announces the change in the same write.
Events are not stored; `node_events` explains why that is enough, and `subscriber` how gaps are found.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from saratoga_server.messages.node_events import (
    NodeEvent,
    NodeEventListener,
    Standings,
    Stood,
    encode_node_event,
)
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.keys import NEWS
from saratoga_server.store.store_client import StoreClient
from saratoga_server.store.subscriber import Subscriber

PUBLISH_TIMEOUT: Final = 1.0
"""Seconds after which publishing standings is given up; newer ones follow."""


class EventChannel:
    """The adapter of the port `NodeEvents`."""

    def __init__(self, client: StoreClient) -> None:
        self._client = client
        self._subscriber: Subscriber | None = None

    @property
    def is_listening(self) -> bool:
        return self._subscriber is not None and self._subscriber.is_open

    async def publish(self, event: NodeEvent) -> int:
        return int(await self._client.command("PUBLISH", NEWS, encode_node_event(event)))

    async def publish_standings(self, node: str, races: Mapping[str, Standings]) -> frozenset[str]:
        event = Stood(node, {race: dict(standings) for race, standings in races.items()})
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT):
                await self.publish(event)
        except (StoreUnavailable, TimeoutError):
            return frozenset(races)
        return frozenset()

    async def listen(self, listener: NodeEventListener) -> None:
        self._subscriber = Subscriber(self._client.primary, NEWS, listener)
        try:
            await self._subscriber.run()
        finally:
            self._subscriber = None
