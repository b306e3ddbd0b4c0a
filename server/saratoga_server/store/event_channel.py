"""The channels for events between nodes: sharded pub/sub, one channel for each partition.

The store publishes there too: a Function that changes a table announces the change in the same write.
The channels are sharded, because a cluster sends other messages to all of its processes. Events are not
stored; `node_events` explains why that is enough, and `subscriber` how gaps are found.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from saratoga_server.cancellation import cancel_all
from saratoga_server.messages.node_events import (
    NodeEvent,
    NodeEventListener,
    Standings,
    Stood,
    encode_node_event,
)
from saratoga_server.ports import LiveStanding, StoreUnavailable
from saratoga_server.store.keys import PARTITIONS, news_channel, partition
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store.store_client import StoreClient
from saratoga_server.store.subscriber import Subscriber

ALL_NODES: Final = "{nodes}:news"
"""The channel for events that concern every node: administration, names, leaderboards."""

PARTITION_CHANNELS: Final = tuple(map(news_channel, range(PARTITIONS)))
"""The channels for events about the tables of each partition."""

PUBLISH_TIMEOUT: Final = 1.0
"""Seconds after which publishing standings is given up; newer ones follow."""

_Share = tuple[str, tuple[str, ...]]
"""A primary's address, and the channels that it owns."""


class EventChannel:
    """The adapter of the port `NodeEvents`."""

    def __init__(self, client: StoreClient, primaries: Primaries) -> None:
        self._client = client
        self._primaries = primaries
        self._subscribers: dict[_Share, Subscriber] = {}

    @property
    def is_listening(self) -> bool:
        subscribers = self._subscribers.values()
        return bool(subscribers) and all(each.is_open for each in subscribers)

    async def publish(self, event: NodeEvent) -> int:
        return int(await self._client.command("SPUBLISH", ALL_NODES, encode_node_event(event)))

    async def publish_standings(self, node: str, races: Mapping[str, Standings]) -> frozenset[str]:
        by_owner: dict[Primary, dict[str, dict[str, LiveStanding]]] = {}
        for race, standings in races.items():
            owner = self._primaries.of_table(_table(race))
            by_owner.setdefault(owner, {})[race] = dict(standings)
        failed = await asyncio.gather(*(self._publish(node, each) for each in by_owner.values()))
        return frozenset().union(*failed)

    async def _publish(
        self, node: str, races: dict[str, dict[str, LiveStanding]]
    ) -> frozenset[str]:
        """Publish the standings of one primary's races in one event; return those that failed."""
        channel = PARTITION_CHANNELS[partition(_table(next(iter(races))))]
        event = encode_node_event(Stood(node, races))
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT):
                await self._client.command("SPUBLISH", channel, event)
        except (StoreUnavailable, TimeoutError):
            return frozenset(races)
        return frozenset()

    async def listen(self, listener: NodeEventListener) -> None:
        tasks: dict[_Share, asyncio.Task[None]] = {}
        try:
            while True:
                revision = self._primaries.revision
                shares = self._shares()
                await cancel_all(tasks.pop(share) for share in tasks.keys() - shares.keys())
                for share, primary in shares.items():
                    if share not in tasks:
                        subscriber = Subscriber(self._primaries, primary, share[1], listener)
                        self._subscribers[share] = subscriber
                        tasks[share] = asyncio.create_task(subscriber.run())
                self._subscribers = {share: self._subscribers[share] for share in shares}
                await self._primaries.changed_since(revision)
        finally:
            self._subscribers = {}
            await cancel_all(tasks.values())

    def _shares(self) -> dict[_Share, Primary]:
        """Return every primary by its address and channels."""
        owned: dict[Primary, list[str]] = {}
        for channel in (*PARTITION_CHANNELS, ALL_NODES):
            owned.setdefault(self._primaries.of(channel), []).append(channel)
        return {(primary.url, tuple(channels)): primary for primary, channels in owned.items()}


def _table(race: str) -> str:
    return race.partition("/")[0]
