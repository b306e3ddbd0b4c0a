"""The channels on which nodes nudge each other: sharded pub/sub, a channel for each partition.

The store itself speaks there too: whoever changes a table tells of it in the same write. Sharded,
because a cluster would send anything else to all of its processes. Nothing is kept; see `nudges`
for why it need not be, and `listener` for how a gap is found.
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
from saratoga_server.store.keys import PARTITIONS, partition
from saratoga_server.store.link import Link
from saratoga_server.store.listener import Listener
from saratoga_server.store.primaries import Primary

HOUSE: Final = "{house}:news"
"""What concerns everybody: acts of administrators, names, leaderboards."""

PARTS: Final = tuple(f"{{p{number}}}:news" for number in range(PARTITIONS))
"""What concerns the tables of a partition."""

TELL_WITHIN: Final = 1.0
"""Seconds; standings that are older are told anew, not late."""


class Channel:
    """The port `NewsStore`."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._primaries = link.primaries
        self._listeners: dict[tuple[str, tuple[str, ...]], Listener] = {}

    @property
    def is_listening(self) -> bool:
        listeners = self._listeners.values()
        return bool(listeners) and all(listener.is_open for listener in listeners)

    async def publish(self, event: NodeEvent) -> int:
        return int(await self._link.command("SPUBLISH", HOUSE, encode_node_event(event)))

    async def publish_standings(self, node: str, races: Mapping[str, Standings]) -> frozenset[str]:
        shares: dict[Primary, dict[str, dict[str, LiveStanding]]] = {}
        for race, stood in races.items():
            shares.setdefault(self._owner(race), {})[race] = dict(stood)
        told = await asyncio.gather(*(self._tell_share(node, share) for share in shares.values()))
        return frozenset().union(*told)

    async def _tell_share(
        self, node: str, share: dict[str, dict[str, LiveStanding]]
    ) -> frozenset[str]:
        """Tell what lies at one primary, all in one; returns the races that could not be told of."""
        channel = PARTS[_part(next(iter(share)))]
        try:
            async with asyncio.timeout(TELL_WITHIN):
                await self._link.command("SPUBLISH", channel, encode_node_event(Stood(node, share)))
        except (StoreUnavailable, TimeoutError):
            return frozenset(share)
        return frozenset()

    def _owner(self, race: str) -> Primary:
        return self._primaries.of(PARTS[_part(race)])

    async def listen(self, listener: NodeEventListener) -> None:
        changed = asyncio.Event()
        forget = self._primaries.on_change(changed.set)
        tasks: dict[tuple[str, tuple[str, ...]], asyncio.Task[None]] = {}
        try:
            while True:
                changed.clear()
                shares = self._shares()
                await cancel_all(tasks.pop(share) for share in list(tasks) if share not in shares)
                for share, primary in shares.items():
                    if share not in tasks:
                        owned = Listener(self._primaries, primary, share[1], listener)
                        self._listeners[share] = owned
                        tasks[share] = asyncio.create_task(owned.keep())
                self._listeners = {share: self._listeners[share] for share in shares}
                await changed.wait()
        finally:
            forget()
            self._listeners = {}
            await cancel_all(tasks.values())

    def _shares(self) -> dict[tuple[str, tuple[str, ...]], Primary]:
        """Every primary, by its name and the channels that it owns."""
        owned: dict[Primary, list[str]] = {}
        for channel in (*PARTS, HOUSE):
            owned.setdefault(self._primaries.of(channel), []).append(channel)
        return {(primary.url, tuple(channels)): primary for primary, channels in owned.items()}


def _part(race: str) -> int:
    return partition(race.partition("/")[0])
