"""Apply events from other nodes to this node.

A table that another node changed is read again. Missed events are made up for by checks of the
data: when the subscription begins or is renewed, and every few seconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.background_tasks import BackgroundTasks, run_each_logged, run_logged
from saratoga_server.cancellation import pause
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.live_race import LiveRace
from saratoga_server.live.peers import Peers
from saratoga_server.live.races import RaceCache
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.logs import EventLog
from saratoga_server.messages.node_events import (
    AdminEvent,
    Here,
    NodeEvent,
    Settled,
    Stood,
    Touched,
)
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import StoreUnavailable
from saratoga_server.store.event_channel import EventChannel
from saratoga_server.store.players import PlayerStore

LOOK_EVERY: Final = 5.0
"""Seconds between two checks for events that were missed unnoticed."""

Look = Callable[[], Awaitable[None]]

_log = EventLog("peers")


class PeerEvents:
    """The listener for events of other nodes."""

    def __init__(
        self,
        peers: Peers,
        events: EventChannel,
        players: PlayerStore,
        table_cache: TableCache,
        table_service: TableService,
        races: RaceCache,
        leaderboards: Leaderboards,
        admin_events: AdminEvents,
        broadcaster: Broadcaster,
        background_tasks: BackgroundTasks,
        metrics: Metrics,
    ) -> None:
        self._peers = peers
        self._events = events
        self._players = players
        self._table_cache = table_cache
        self._table_service = table_service
        self._races = races
        self._leaderboards = leaderboards
        self._admin_events = admin_events
        self._broadcaster = broadcaster
        self._background_tasks = background_tasks
        self._metrics = metrics
        self._has_listened = False
        self._looks: list[Look] = []
        """Checks for missed events that are still to be made."""
        self._actions: asyncio.Queue[AdminEvent] = asyncio.Queue()

    @property
    def node(self) -> str:
        return self._peers.node

    async def run(self) -> None:
        """Receive and publish events until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._events.listen(self))
            group.create_task(self._peers.keep_publishing())
            group.create_task(self._keep_applying())
            group.create_task(self._keep_looking())

    # Events

    def receive(self, event: NodeEvent) -> None:
        self._metrics.node_events[str(event.__struct_config__.tag)] += 1
        match event:
            case Touched(table, version):
                if self._table_cache.heard_of(table, version):
                    self._background_tasks.spawn(self._table_service.refresh(table, version))
            case Stood(node, races):
                if node != self.node:
                    self._met(node)
                    for race_id, standings in races.items():
                        self._follow_endings(race_id, self._races.published(race_id, standings))
            case Here(node, number):
                self._met(node)
                if number == 1:
                    self._publish_everything()
            case Settled(games):
                for game in games:
                    self._leaderboards.changed(game)
            case _:
                self._actions.put_nowait(event)

    def counted(self, nodes: int) -> None:
        if nodes > 1:
            self._peers.seen()

    def _met(self, node: str) -> None:
        if self._peers.met(node):
            self._publish_everything()

    def _publish_everything(self) -> None:
        """Publish all standings for a new node, which knows none of them."""
        for race in self._races.all():
            standings = {player: run.standing for player, run in race.runs.items()}
            self._peers.publish_all(race.id, standings)

    def _follow_endings(self, race_id: str, players: list[str]) -> None:
        race = self._races.known(race_id)
        if race is not None and players:
            self._background_tasks.spawn(self._table_service.ended_elsewhere(race, players))

    async def subscribed(self) -> None:
        if self._has_listened:
            self._metrics.resubscriptions += 1
            _log.info("subscription_renewed")
            if self._events.is_listening:
                self._add_look(self._look_at_players)
        self._has_listened = self._has_listened or self._events.is_listening
        self._add_look(self._look_at_tables)
        self._add_look(self._look_at_standings)
        await self._take_looks()

    async def _keep_applying(self) -> None:
        while True:
            action = await self._actions.get()
            await pause(0)
            await run_logged(self._admin_events.apply(action))

    # Checks for missed events

    async def _keep_looking(self) -> None:
        had_peers = True
        while True:
            await pause(LOOK_EVERY)
            self._add_look(self._look_at_tables)
            # a node that has died may not have published its last changes
            if had_peers:
                self._add_look(self._look_at_standings)
            await self._take_looks()
            had_peers = not self._peers.is_alone

    def _add_look(self, look: Look) -> None:
        if look not in self._looks:
            self._looks.append(look)

    async def _take_looks(self) -> None:
        """Make each check separately; a check that fails is made again the next time."""
        for look in list(self._looks):
            if look not in self._looks:
                continue
            self._looks.remove(look)
            is_done = False
            try:
                is_done = await run_logged(look())
            finally:
                if not is_done:
                    self._add_look(look)

    async def _look_at_tables(self) -> None:
        for code in await self._table_cache.changed_elsewhere():
            self._background_tasks.spawn(self._table_service.refresh(code))

    async def _look_at_standings(self) -> None:
        followed = [race for race in self._races.all() if self._broadcaster.audience(race.code)]
        if not await run_each_logged(self._look_at_race(race) for race in followed):
            raise StoreUnavailable("the standings of some races could not be read")

    async def _look_at_race(self, race: LiveRace) -> None:
        self._follow_endings(race.id, await self._races.read_standings(race))

    async def _look_at_players(self) -> None:
        """Apply changes to players that this node has missed: banned, deleted, renamed."""
        for session in list(self._broadcaster.sessions):
            if session.player:
                row = await self._players.load_player(session.player)
                await self._admin_events.check(session, row)
