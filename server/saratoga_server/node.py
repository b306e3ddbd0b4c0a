"""A node: the parts of one server process that serve players, and how it stops.

Every part is given the whole node, because they need each other: tables deal races, and races end
at tables.
"""

import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import Leaderboard
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_server.background_tasks import BackgroundTasks, run_each_logged, run_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain.open_races import OpenState
from saratoga_server.domain.tables import RankedTables, TableState
from saratoga_server.handlers import records
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.handlers.records import Replay, Replays
from saratoga_server.live.bot_hosts import BotHosts
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.listener import Listener
from saratoga_server.live.open_races import OpenRaces
from saratoga_server.live.pars import Pars
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.races import Races
from saratoga_server.live.readiness import Readiness
from saratoga_server.live.scheduler import Scheduler
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.tables import Tables
from saratoga_server.metrics import Metrics

if TYPE_CHECKING:
    from saratoga_server.store.opening import Store

Deal = Callable[[Game, bytes], Position]
"""A function that returns the opening position for a game and a deal key."""


class Node:
    """One server process: its parts, and the queries of the HTTP pages."""

    def __init__(
        self,
        store: "Store",
        name: str,
        metrics: Metrics,
        *,
        program: str = "saratoga-server",
        deal: Deal = deal_for_key,
        new_seed: Callable[[], bytes] = partial(secrets.token_bytes, 32),  # noqa: B008 - a function
        ranked_tables: RankedTables = RankedTables.ALL,
        owner: str = "",
        own_bot_host: str = "",
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """`name` differs from that of every earlier process; `program` is name and version.

        `new_seed` returns 32 random bytes, `steady` seconds from a clock that never steps. `owner`
        and `own_bot_host` are the player ids of the server's owner and of the bot host that the
        server has started.
        """
        self.store: Final = store
        self.name: Final = name
        self.metrics: Final = metrics
        self.program: Final = program
        self.deal: Final = deal
        self.new_seed: Final[Callable[[], bytes]] = new_seed
        self.ranked_tables: Final = ranked_tables
        self.owner: str = owner
        self.own_bot_host = own_bot_host
        self.clock = ServerClock(store.tables.now, steady)
        self.background_tasks = BackgroundTasks()
        self.broadcaster = Broadcaster()
        self.tables = Tables(self)
        self.races: Races = Races(self)
        self.searches = StuckSearches(self.background_tasks)
        self.public_tables = PublicTables(self)
        self.bot_hosts = BotHosts(self)
        self.leaderboards = Leaderboards(self)
        self.open_races = OpenRaces(self)
        self.replays = Replays(self.record, self.background_tasks)
        self.pars = Pars(self)
        self.listener = Listener(self)
        self.scheduler = Scheduler(self)
        self.readiness = Readiness(store.commits.ask, steady, lambda: store.guard.why_refused)
        self.dispatcher = Dispatcher(self)

    @classmethod
    async def opened(
        cls, store: "Store", name: str, program: str, metrics: Metrics, **options: Any
    ) -> "Node":
        """Return a new node on this store, with the store's time, which other nodes know of."""
        node = cls(store, f"{name}.{secrets.token_hex(3)}", metrics, program=program, **options)
        await node.clock.synchronise()
        await store.nodes.beat(node.name)
        return node

    @classmethod
    async def for_administration(cls, store: "Store") -> "Node":
        """Return a node without players, through which an administrator changes tables."""
        node = cls(store, "admin", Metrics())
        await node.clock.synchronise()
        return node

    async def why_not_ready(self) -> str | None:
        """Return a sentence that says why the node is not ready; `None` if it is ready."""
        return await self.readiness.why_not_ready()

    async def leaderboard(self, query: GetLeaderboard) -> Leaderboard:
        """Return a page of a leaderboard. Raises `CommandRejected`."""
        return await self.leaderboards.page(query)

    async def record(self, race: str) -> str:
        """Return the record of a finished race. Raises `CommandRejected`."""
        return await records.record(self, race)

    async def replay(self, race: str) -> Replay:
        """Return the boards of a finished race. Raises as `Replays.boards` does."""
        return await self.replays.boards(race)

    async def table(self, code: str) -> TableState | None:
        """Return the open table with this code, if there is one."""
        return await records.table(self, code)

    async def has_race(self, race: str) -> bool:
        """Return whether a race with this id has been gathered."""
        return await records.has_race(self, race)

    async def open_race(self, race: str) -> OpenState | None:
        """Return the open race with this id, if there is one."""
        return await self.store.open_races.load(race)

    async def read_again(self) -> None:
        """Read all tables and boards again after the store lost writes; tell the players."""
        await run_each_logged(self.tables.refresh(table.code) for table in self.tables.all())
        await run_each_logged(
            self.races.latest(race, player)
            for race in self.races.all()
            for player, run in race.runs.items()
            if run.board is not None
        )

    async def stop(self) -> None:
        """Finish work in progress, and release what other nodes wait for."""
        self.searches.stop()
        self.replays.stop()
        self.pars.stop()
        await self.background_tasks.finish()
        # the seats of players who have not reconnected to another node yet
        await run_each_logged(
            self.scheduler.disconnect(table.code, seat.player, seat.epoch)
            for table in self.tables.all()
            for seat in table.state.seats
            if seat.node == self.name
        )
        # without a store this fails, and the other nodes find out by themselves
        await run_logged(self.store.nodes.gone(self.name))
