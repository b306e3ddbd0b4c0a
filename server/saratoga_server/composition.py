"""The composition of a node: every part that serves players, wired once."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from saratoga_protocol.commands import GetLeaderboard
from saratoga_protocol.events import Leaderboard
from saratoga_rules.deal import deal_for_key
from saratoga_rules.position import Position
from saratoga_server.background_tasks import BackgroundTasks, run_each_logged, run_logged
from saratoga_server.clock import ServerClock
from saratoga_server.domain import tables
from saratoga_server.domain.tables import Change, TableState
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.handlers.identity import IdentityHandlers
from saratoga_server.handlers.leaderboards import LeaderboardHandlers
from saratoga_server.handlers.play import PlayHandlers
from saratoga_server.handlers.records import RecordHandlers
from saratoga_server.handlers.seats import SeatHandlers
from saratoga_server.handlers.snapshots import Snapshots
from saratoga_server.handlers.table_commands import TableHandlers
from saratoga_server.handlers.watching import WatchHandlers
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.live.board_service import BoardService
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.due_tables import DueTables
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.peer_events import PeerEvents
from saratoga_server.live.peers import Peers
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.race_finisher import RaceFinisher
from saratoga_server.live.races import Deal, RaceCache, opening_of
from saratoga_server.live.readiness import Readiness
from saratoga_server.live.scheduler import Scheduler
from saratoga_server.live.seat_registry import SeatRegistry
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed, new_seed
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis, NodeStore
from saratoga_server.stores import Stores


@dataclass(slots=True, kw_only=True)
class Node:
    """One server process: its parts, and what the HTTP pages ask of them."""

    name: str
    """Unlike that of any earlier process."""
    clock: ServerClock
    broadcaster: Broadcaster
    table_cache: TableCache
    table_service: TableService
    races: RaceCache
    boards: BoardService
    searches: StuckSearches
    leaderboards: Leaderboards
    records: RecordHandlers
    admin_events: AdminEvents
    peers: Peers
    peer_events: PeerEvents
    scheduler: Scheduler
    readiness: Readiness
    dispatcher: Dispatcher
    background_tasks: BackgroundTasks
    nodes: NodeStore
    metrics: Metrics

    async def why_not_ready(self) -> str | None:
        """Return why nobody should be sent here now, for people; `None`: ready."""
        return await self.readiness.why_not_ready()

    async def leaderboard(self, query: GetLeaderboard) -> Leaderboard:
        """Return a page of a leaderboard. Raises `Refusal`."""
        return await self.leaderboards.page(query)

    async def record(self, race: str) -> str:
        """Return the record of a finished race. Raises `Refusal`."""
        return await self.records.record(race)

    async def stop(self) -> None:
        """Finish what is under way, and free what other nodes wait for."""
        self.searches.stop()
        await self.background_tasks.finish()
        await run_each_logged(self._disconnect_seats(table) for table in self.table_cache.all())
        # without a store this cannot be said, and is found out in time
        await run_logged(self.nodes.gone(self.name))

    async def _disconnect_seats(self, table: LiveTable) -> None:
        """Disconnect the seats of players who have not come to another node yet."""
        for seat in table.state.seats:
            if seat.node == self.name:

                def gone(state: TableState, now: Millis, seat: tables.Seat = seat) -> Change | None:
                    return tables.disconnect(state, seat.player, seat.epoch, now=now)

                await self.table_service.change(table.code, gone)


async def compose_table_cache(store: Stores) -> TableCache:
    """Return a cache for an administrator's process, which serves nobody and hears no other node."""
    clock = ServerClock(store.tables)
    await clock.synchronise()
    peers = Peers("admin", store.events, BackgroundTasks(), time.monotonic)

    def opening(state: TableState) -> Position:
        return opening_of(state, deal_for_key)

    return TableCache(store.tables, Broadcaster(), clock, peers, DueTables(clock), opening)


async def compose(
    store: Stores,
    node: str,
    program: str,
    metrics: Metrics,
    *,
    deal: Deal = deal_for_key,
    new_seed: NewSeed = new_seed,
    steady: Callable[[], float] = time.monotonic,
) -> Node:
    """Wire a node on this store. `program`: what players are told that they talk to."""
    clock = ServerClock(store.tables, steady)
    await clock.synchronise()
    name = f"{node}.{secrets.token_hex(3)}"
    await store.nodes.beat(name)

    def opening(state: TableState) -> Position:
        return opening_of(state, deal)

    broadcaster = Broadcaster()
    background_tasks = BackgroundTasks()
    due_tables = DueTables(clock)
    peers = Peers(name, store.events, background_tasks, steady)
    table_cache = TableCache(store.tables, broadcaster, clock, peers, due_tables, opening)
    races = RaceCache(store.boards, table_cache, broadcaster, peers, deal)
    boards = BoardService(store.boards, races, broadcaster, clock)
    searches = StuckSearches(background_tasks)
    public_tables = PublicTables(store.tables)
    seats = Seats(store.players, table_cache, public_tables, broadcaster)
    leaderboards = Leaderboards(store.leaderboards, store.players, clock, peers, metrics)
    table_service = TableService(
        table_cache,
        races,
        boards,
        RaceFinisher(store.tables, races, broadcaster),
        searches,
        seats,
        public_tables,
        leaderboards,
        broadcaster,
        clock,
        background_tasks,
        metrics,
        name,
        new_seed,
    )
    seat_registry = SeatRegistry(store.players, table_cache, table_service, seats, new_seed)
    admin_events = AdminEvents(
        table_cache, table_service, seats, leaderboards, broadcaster, new_seed
    )
    peer_events = PeerEvents(
        peers,
        store.events,
        store.players,
        table_cache,
        table_service,
        races,
        leaderboards,
        admin_events,
        broadcaster,
        background_tasks,
        metrics,
    )
    scheduler = Scheduler(
        store.tables,
        store.nodes,
        clock,
        due_tables,
        table_cache,
        table_service,
        races,
        seats,
        seat_registry,
        public_tables,
        leaderboards,
        broadcaster,
        peers,
        background_tasks,
    )
    readiness = Readiness(clock.synchronise, steady)
    snapshots = Snapshots(races, clock)
    records = RecordHandlers(store.tables, table_cache)
    dispatcher = Dispatcher(
        IdentityHandlers(store.players, table_service, broadcaster, peers, clock, program),
        SeatHandlers(
            store.players,
            table_cache,
            table_service,
            seats,
            seat_registry,
            public_tables,
            snapshots,
            broadcaster,
            clock,
            name,
            new_seed,
        ),
        WatchHandlers(table_cache, broadcaster, snapshots),
        TableHandlers(table_service, new_seed),
        PlayHandlers(store.boards, races, boards, table_service),
        LeaderboardHandlers(leaderboards),
        records,
        public_tables=public_tables,
        leaderboards=leaderboards,
        table_cache=table_cache,
        broadcaster=broadcaster,
        clock=clock,
        readiness=readiness,
        metrics=metrics,
    )
    return Node(
        name=name,
        clock=clock,
        broadcaster=broadcaster,
        table_cache=table_cache,
        table_service=table_service,
        races=races,
        boards=boards,
        searches=searches,
        leaderboards=leaderboards,
        records=records,
        admin_events=admin_events,
        peers=peers,
        peer_events=peer_events,
        scheduler=scheduler,
        readiness=readiness,
        dispatcher=dispatcher,
        background_tasks=background_tasks,
        nodes=store.nodes,
        metrics=metrics,
    )
