"""Publish events to the other nodes, and keep track of whether there are any.

A racer's standing is published by the node that the racer plays on, at most every `PUBLISH_EVERY`
seconds and for all races together. A single node publishes nothing.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from saratoga_server.background_tasks import BackgroundTasks, run_logged
from saratoga_server.cancellation import pause
from saratoga_server.logs import EventLog
from saratoga_server.messages.node_events import NodeEvent, Standings, Stood
from saratoga_server.ports import LiveStanding, StoreUnavailable
from saratoga_server.store.event_channel import EventChannel

PUBLISH_EVERY: Final = 0.05
"""Seconds between two publications of standings. The receiver's tick adds to it."""

PUBLISH_TIMEOUT: Final = 1.0
"""Seconds after which publishing standings is given up; newer ones follow."""

RACES_AT_ONCE: Final = 64
"""The most races in one publication; the others wait for the next."""

PEER_COUNTS_FOR: Final = 5.0
"""Seconds for which another node counts as alive after its last sign of life."""

_log = EventLog("peers")


class Peers:
    """The publisher of this node's events to the other nodes."""

    def __init__(
        self,
        node: str,
        events: EventChannel,
        background_tasks: BackgroundTasks,
        steady: Callable[[], float],
    ) -> None:
        """`steady` returns seconds from a clock that never steps."""
        self.node = node
        self._events = events
        self._background_tasks = background_tasks
        self._steady = steady
        self._alone_from = 0.0
        self._unpublished: dict[str, dict[str, LiveStanding]] = {}
        """The standings still to be published, by race id and player."""

    @property
    def is_alone(self) -> bool:
        """True if certainly no other node is alive."""
        return self._events.is_listening and self._steady() >= self._alone_from

    def seen(self) -> None:
        """Record that another node is alive."""
        self._alone_from = self._steady() + PEER_COUNTS_FOR

    def met(self, node: str) -> bool:
        """Record a heartbeat of another node; return whether this node was alone before."""
        was_alone = self.is_alone
        if was_alone:
            _log.info("node_discovered", other=node)
        self.seen()
        return was_alone

    def publish(self, event: NodeEvent) -> None:
        """Publish an event in the background, if there are other nodes."""
        if not self.is_alone:
            self._background_tasks.spawn(self._events.publish(event))

    def standing_changed(self, race: str, player: str, standing: LiveStanding) -> None:
        """Publish the standing of a racer on this node soon, if there are other nodes."""
        if not self.is_alone:
            self._unpublished.setdefault(race, {})[player] = standing

    def publish_all(self, race: str, standings: Standings) -> None:
        """Publish the standings of all racers of a race soon."""
        self._unpublished.setdefault(race, {}).update(standings)

    async def keep_publishing(self) -> None:
        """Publish standings until cancelled."""
        while True:
            await pause(PUBLISH_EVERY)
            if self._unpublished:
                await run_logged(self.publish_standings())

    async def publish_standings(self) -> None:
        """Publish the changed standings; those that fail are published the next time."""
        races = {
            race: self._unpublished.pop(race) for race in list(self._unpublished)[:RACES_AT_ONCE]
        }
        if not races:
            return
        try:
            async with asyncio.timeout(PUBLISH_TIMEOUT):
                await self._events.publish(Stood(self.node, races))
        except (StoreUnavailable, TimeoutError):
            for race, standings in races.items():
                self._unpublished[race] = standings | self._unpublished.get(race, {})
