"""The composition root: builds the parts of a node.

Every part gets its dependencies here and nowhere else.
"""

import secrets
import time
from collections.abc import Callable

from saratoga_rules.dealing.deal import deal_for_key
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.clock import ServerClock
from saratoga_server.domain.tables import RankedTables
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.handlers.identity import IdentityHandlers
from saratoga_server.handlers.play import PlayHandlers
from saratoga_server.handlers.records import RecordHandlers
from saratoga_server.handlers.replays import Replays
from saratoga_server.handlers.seats import SeatHandlers
from saratoga_server.handlers.snapshots import Snapshots
from saratoga_server.handlers.table_commands import TableHandlers
from saratoga_server.live.activity import Activity
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.live.board_service import BoardService
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.due_tables import DueTables
from saratoga_server.live.leaderboards import Leaderboards
from saratoga_server.live.peer_events import PeerEvents
from saratoga_server.live.peers import Peers
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.race_finisher import RaceFinisher
from saratoga_server.live.races import RaceCache
from saratoga_server.live.readiness import Readiness, WhyRefused, never_refused
from saratoga_server.live.scheduler import Scheduler
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed, new_seed
from saratoga_server.live.stored_logs import Deal, StoredLogs
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.metrics.counters import Metrics
from saratoga_server.node import Node
from saratoga_server.store.opening import Store


async def compose_table_cache(store: Store) -> TableCache:
    """Return a table cache for an administrator's process: without players and events."""
    clock = ServerClock(store.tables.now)
    await clock.synchronise()
    peers = Peers("admin", store.events, BackgroundTasks(), time.monotonic)

    logs = StoredLogs(store.boards, deal_for_key)
    return TableCache(store.tables, Broadcaster(), clock, peers, DueTables(clock), logs.opening)


async def compose(
    store: Store,
    node: str,
    program: str,
    metrics: Metrics,
    *,
    deal: Deal = deal_for_key,
    new_seed: NewSeed = new_seed,
    ranked_tables: RankedTables = RankedTables.ALL,
    steady: Callable[[], float] = time.monotonic,
    why_store_refused: WhyRefused = never_refused,
) -> Node:
    """Return a new node on this store. `program`: the server's name and version."""
    clock = ServerClock(store.tables.now, steady)
    await clock.synchronise()
    name = f"{node}.{secrets.token_hex(3)}"
    await store.nodes.beat(name)

    broadcaster = Broadcaster()
    background_tasks = BackgroundTasks()
    logs = StoredLogs(store.boards, deal)
    due_tables = DueTables(clock)
    peers = Peers(name, store.events, background_tasks, steady)
    table_cache = TableCache(store.tables, broadcaster, clock, peers, due_tables, logs.opening)
    races = RaceCache(store.boards, table_cache, broadcaster, peers, logs)
    boards = BoardService(store.commits, races, broadcaster, clock)
    searches = StuckSearches(background_tasks)
    public_tables = PublicTables(store.tables)
    seats = Seats(broadcaster)
    leaderboards = Leaderboards(store.leaderboards, store.players, clock, peers)
    table_service = TableService(
        table_cache,
        races,
        boards,
        RaceFinisher(store.tables, races, logs, broadcaster),
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
        ranked_tables,
    )
    activity = Activity(store.boards, table_cache, table_service, races, clock)
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
        public_tables,
        leaderboards,
        broadcaster,
        peers,
        background_tasks,
        activity,
    )
    readiness = Readiness(clock.synchronise, steady, why_store_refused)
    snapshots = Snapshots(races, clock)
    records = RecordHandlers(store.tables, table_cache)
    replays = Replays(records.record, background_tasks)
    dispatcher = Dispatcher(
        IdentityHandlers(
            store.players, table_service, broadcaster, peers, clock, program, store.durability
        ),
        SeatHandlers(
            store.players,
            table_cache,
            table_service,
            seats,
            public_tables,
            snapshots,
            broadcaster,
            clock,
            name,
            new_seed,
        ),
        TableHandlers(table_service, public_tables, clock, new_seed),
        PlayHandlers(
            store.commits,
            races,
            table_service,
        ),
        records,
        public_tables=public_tables,
        leaderboards=leaderboards,
        table_cache=table_cache,
        broadcaster=broadcaster,
        clock=clock,
        readiness=readiness,
        metrics=metrics,
        activity=activity,
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
        replays=replays,
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
