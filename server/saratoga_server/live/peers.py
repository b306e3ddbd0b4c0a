"""What other nodes have done, felt on this one; and what this one did, told to them.

A table that was changed elsewhere is read again. Where racers stand is told by the node that they
play on, at most every `TELL_EVERY` seconds and for all its races at once; a node that is alone tells
nobody. Whatever was missed is found by looking: when listening begins (again), and now and then.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from saratoga_server.background_tasks import BackgroundTasks, run_each_logged, run_logged
from saratoga_server.cancellation import pause
from saratoga_server.handlers.leaderboards import LeaderboardHandlers
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.races import LiveRace, LiveStanding, RaceCache
from saratoga_server.live.table_cache import TableCache
from saratoga_server.logs import EventLog
from saratoga_server.messages.node_events import (
    AdminEvent,
    Here,
    NodeEvent,
    NodeEvents,
    Settled,
    Stood,
    StoodAt,
    Touched,
)
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import PlayerStore, StoreUnavailable

TELL_EVERY: Final = 0.05
"""Seconds between two tellings. What is heard waits for the hearer's own tick on top."""

TOLD_AT_ONCE: Final = 64
"""Races; more wait for the next time."""

COMPANY_FOR: Final = 5.0
"""Seconds for which another node, once heard of, counts as there."""

LOOK_EVERY: Final = 5.0
"""Seconds between two looks for what was missed though nobody noticed."""

_log = EventLog("news")


class PeerEvents:
    """Between this node and the others."""

    def __init__(
        self,
        node: str,
        store: NodeEvents,
        players: PlayerStore,
        table_cache: TableCache,
        races: RaceCache,
        leaderboards: LeaderboardHandlers,
        orders: AdminEvents,
        broadcaster: Broadcaster,
        background_tasks: BackgroundTasks,
        metrics: Metrics,
        steady: Callable[[], float],
    ) -> None:
        self.node = node
        self._store = store
        self._players = players
        self._table_cache = table_cache
        self._races = races
        self._archive = leaderboards
        self._orders = orders
        self._broadcaster = broadcaster
        self._background_tasks = background_tasks
        self._metrics = metrics
        self._steady = steady
        self._company_until = 0.0
        self._has_listened = False
        self._missed: list[Callable[[], Awaitable[None]]] = []
        """Looks at what may have been missed, still to be taken."""
        self._untold: dict[str, dict[str, LiveStanding]] = {}
        """By race and player."""
        self._given: asyncio.Queue[AdminEvent] = asyncio.Queue()
        table_cache.is_alone = lambda: self.is_alone
        races.on_stand = self._stood

    @property
    def is_alone(self) -> bool:
        """Whether no other node lives, for certain."""
        return self._store.is_listening and self._steady() >= self._company_until

    async def keep(self) -> None:
        """Hear and tell; for ever."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._store.listen(self))
            group.create_task(self._keep_telling())
            group.create_task(self._keep_obeying())
            group.create_task(self._keep_looking())

    # Hearing

    def hear(self, event: NodeEvent) -> None:
        self._metrics.node_events[str(event.__struct_config__.tag)] += 1
        match event:
            case Touched(table, version):
                if self._table_cache.is_behind(table, version):
                    self._background_tasks.spawn(self._table_cache.refresh(table, version))
            case Stood(node, races):
                if node != self.node:
                    self._meet(node)
                    self._merge(races)
            case Here(node, number):
                self._meet(node)
                if number == 1:
                    self._tell_everything()
            case Settled(games):
                for game in games:
                    self._archive.leaderboard_changed(game)
            case _:
                self._given.put_nowait(event)

    def counted(self, nodes: int) -> None:
        if nodes > 1:
            self._company_until = self._steady() + COMPANY_FOR

    def _meet(self, node: str) -> None:
        if self.is_alone:
            _log.info("met", other=node)
            self._company_until = self._steady() + COMPANY_FOR
            self._tell_everything()
        self._company_until = self._steady() + COMPANY_FOR

    def _merge(self, races: dict[str, list[StoodAt]]) -> None:
        for race_id, stood in races.items():
            self._races.hear(race_id, {each.player: LiveStanding.told(each) for each in stood})

    async def opened(self) -> None:
        if self._has_listened:
            self._metrics.resubscriptions += 1
            _log.info("listening_again")
            if self._store.is_listening:
                self._is_to_look(self._look_at_players)
        self._has_listened = self._has_listened or self._store.is_listening
        self._is_to_look(self._look_at_tables)
        self._is_to_look(self._look_at_standings)
        await self._look_at_missed()

    # Telling

    async def tell(self, event: NodeEvent) -> None:
        """Tell the other nodes, if there are any."""
        if not self.is_alone:
            await self._store.tell(event)

    def _stood(self, race: LiveRace, player: str, stand: LiveStanding) -> None:
        if not self.is_alone:
            self._untold.setdefault(race.id, {})[player] = stand

    def _tell_everything(self) -> None:
        """Somebody who knows nothing listens now."""
        for race in self._races.all():
            self._untold.setdefault(race.id, {}).update(race.stands)

    async def _keep_telling(self) -> None:
        while True:
            await pause(TELL_EVERY)
            if self._untold:
                await run_logged(self.tell_standings())

    async def tell_standings(self) -> None:
        """Tell the other nodes where racers stand now; what cannot be told is told the next time."""
        untold = {race: self._untold.pop(race) for race in list(self._untold)[:TOLD_AT_ONCE]}
        told = {
            race: [stand.to_tell(player) for player, stand in stands.items()]
            for race, stands in untold.items()
        }
        for race in await self._store.tell_standings(self.node, told):
            self._untold[race] = untold[race] | self._untold.get(race, {})

    async def _keep_obeying(self) -> None:
        while True:
            order = await self._given.get()
            await pause(0)
            await run_logged(self._orders.obey(order))

    # Looking

    async def _keep_looking(self) -> None:
        had_company = True
        while True:
            await pause(LOOK_EVERY)
            self._is_to_look(self._look_at_tables)
            # a node that is gone may have died before it could tell
            if had_company:
                self._is_to_look(self._look_at_standings)
            await self._look_at_missed()
            had_company = not self.is_alone

    def _is_to_look(self, look: Callable[[], Awaitable[None]]) -> None:
        if look not in self._missed:
            self._missed.append(look)

    async def _look_at_missed(self) -> None:
        """Each by itself: what is away now is looked at the next time."""
        for look in list(self._missed):
            if look not in self._missed:
                continue
            self._missed.remove(look)
            is_done = False
            try:
                is_done = await run_logged(look())
            finally:
                if not is_done:
                    self._is_to_look(look)

    async def _look_at_tables(self) -> None:
        for code in await self._table_cache.changed_elsewhere():
            self._background_tasks.spawn(self._table_cache.refresh(code))

    async def _look_at_standings(self) -> None:
        followed = [race for race in self._races.all() if self._broadcaster.audience(race.code)]
        if not await run_each_logged(self._races.look_again(race) for race in followed):
            raise StoreUnavailable("the standings of some races could not be looked at")

    async def _look_at_players(self) -> None:
        """Who was banned, forgotten or renamed while nobody listened."""
        for session in list(self._broadcaster.sessions):
            if session.player:
                row = await self._players.load_player(session.player)
                await self._orders.check(session, row)
