"""The composition root: builds the server's parts, runs them, and closes them in order.

Every part gets its dependencies here and nowhere else.
"""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from importlib.metadata import version
from typing import Final

from saratoga_protocol.refusals import RESTARTING
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.position import Position
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.cancellation import TaskEnded, cancel_all
from saratoga_server.clock import ServerClock
from saratoga_server.config import Config, StartupError
from saratoga_server.domain.tables import RankedTables, TableState
from saratoga_server.domain.usernames import load_tables
from saratoga_server.embedded_store.embedded import EmbeddedStore
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
from saratoga_server.live.past_boards import PastBoards
from saratoga_server.live.peer_events import PeerEvents
from saratoga_server.live.peers import Peers
from saratoga_server.live.public_tables import PublicTables
from saratoga_server.live.race_finisher import RaceFinisher
from saratoga_server.live.races import Deal, RaceCache, opening_of
from saratoga_server.live.readiness import Readiness, WhyRefused, never_refused
from saratoga_server.live.scheduler import Scheduler
from saratoga_server.live.seat_registry import SeatRegistry
from saratoga_server.live.seats import Seats
from saratoga_server.live.seeds import NewSeed, new_seed
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.sweeper import Sweeper
from saratoga_server.live.table_cache import TableCache
from saratoga_server.live.table_service import TableService
from saratoga_server.logs import EventLog
from saratoga_server.metrics.counters import Metrics
from saratoga_server.metrics.exporter import serve_metrics
from saratoga_server.metrics.sampler import Sampler
from saratoga_server.node import Node
from saratoga_server.ports import StoreRefused, StoreUnavailable
from saratoga_server.process import systemd
from saratoga_server.process.garbage_collection import freeze_startup_objects
from saratoga_server.process.program import run_program
from saratoga_server.process.ready_line import announce
from saratoga_server.process.shutdown import Shutdown
from saratoga_server.store.health import Health
from saratoga_server.store.opening import Store, open_store
from saratoga_server.stores import Stores
from saratoga_server.transport.gateway import Gateway, GatewaySettings, gateway_settings
from saratoga_server.transport.http_api import HttpPages

CLOSE_WITHIN: Final = 12.0
"""Seconds for connections to close; those that are still open then are reset. See `STOP_WITHIN`."""

EXPECTED_ERRORS: Final = (StoreRefused, StoreUnavailable, StartupError, TaskEnded)
"""Errors whose text tells the operator what to do; they end the server without a traceback."""

log = EventLog("server")


def run(config: Config) -> None:
    """Run the server until shutdown is requested. If it cannot run, print why and raise `SystemExit`."""
    run_program(config, serve, EXPECTED_ERRORS)


async def serve(config: Config, metrics: Metrics) -> None:
    """Open the server, run it until shutdown is requested, and close it.

    Raises one of `EXPECTED_ERRORS` if it cannot start; `TaskEnded` if a background task ended.
    """
    shutdown = Shutdown()
    shutdown.listen_for_signals()
    if config.until_eof:
        shutdown.listen_for_stdin_eof()
    await shutdown.limit(_serve(config, metrics, shutdown), config.drain_delay)


async def _serve(config: Config, metrics: Metrics, shutdown: Shutdown) -> None:
    settings = gateway_settings(config)
    async with (
        _metrics_server(config, metrics),
        _store_address(config) as (url, embedded),
        open_store(
            url,
            config.durability,
            trust_store=config.trust_store,
            on_batch=metrics.batches.observe,
            memory=embedded.ledger if embedded else None,
            holds=[embedded.why_held] if embedded else [],
        ) as store,
    ):
        supervision = [*store.watching, *([embedded.supervision] if embedded else [])]
        await _serve_players(config, settings, store, metrics, shutdown, supervision)


async def _serve_players(
    config: Config,
    settings: GatewaySettings,
    store: Store,
    metrics: Metrics,
    shutdown: Shutdown,
    supervision: Sequence[asyncio.Task[None]],
) -> None:
    """Serve players until shutdown is requested or a background task ends.

    `supervision`: background tasks that already run.
    """

    def why_store_refused() -> str | None:
        return store.guard.why_refused

    node = await compose(
        store,
        config.node,
        program(),
        metrics,
        ranked_tables=config.ranked,
        why_store_refused=why_store_refused,
    )
    gateway = Gateway(node.dispatcher, settings, HttpPages(node), metrics)
    sampler = Sampler(node, Health(store.primaries).look, metrics, why_store_refused)
    with _cannot_listen(f"{config.host}:{config.port}", "Choose another with --host and --port."):
        port = await gateway.open()
    work = (
        node.scheduler.run(),
        gateway.watch(),
        gateway.keepalive.run(),
        node.peer_events.run(),
        sampler.keep(),
        systemd.feed_watchdog(),
    )
    tasks = [*supervision, *map(asyncio.create_task, work)]
    address = config.invitation(port)
    log.info("server_open", address=address, store=config.store_shown)
    announce(address)
    node.background_tasks.spawn(_finish_startup())
    requested = asyncio.create_task(shutdown.requested.wait())
    await asyncio.wait([requested, *tasks], return_when=asyncio.FIRST_COMPLETED)
    if not shutdown.requested.is_set():
        shutdown.fail()
    systemd.notify(systemd.STOPPING)
    await _close(node, gateway, config.drain_delay, [*tasks, requested])


@asynccontextmanager
async def _store_address(config: Config) -> AsyncIterator[tuple[str, EmbeddedStore | None]]:
    """Yield the store's address, and the embedded store if it is that one."""
    if config.redis is not None:
        yield config.redis, None
        return
    embedded = EmbeddedStore(config.store_folder, config.durability)
    async with embedded as url:
        log.info("store_open", folder=str(config.store_folder))
        yield url, embedded


@asynccontextmanager
async def _metrics_server(config: Config, metrics: Metrics) -> AsyncIterator[None]:
    """Serve the metrics until the context exits, if they are enabled."""
    if config.metrics_port is None:
        yield
        return
    with _cannot_listen(
        f"The metrics address {config.metrics_host}:{config.metrics_port}",
        "Choose another with --metrics-host and --metrics-port, or turn metrics off with "
        "--metrics-port off.",
    ):
        server = serve_metrics(metrics, config.node, config.metrics_host, config.metrics_port)
    log.info("metrics_open", port=server.port)
    try:
        yield
    finally:
        await asyncio.to_thread(server.close)


@contextmanager
def _cannot_listen(what: str, remedy: str) -> Iterator[None]:
    """Turn an `OSError` from opening a socket into a `StartupError`."""
    try:
        yield
    except (OSError, UnicodeError) as error:  # a host name that cannot be encoded
        reason = getattr(error, "strerror", None) or error
        raise StartupError(f"{what} cannot be opened ({reason}). {remedy}") from None


def program() -> str:
    """Return the program's name and version, as sent to clients."""
    return f"saratoga-server {version('saratoga')}"


async def _finish_startup() -> None:
    """Do slow startup work that no player should wait for, right after the server has opened."""
    await asyncio.to_thread(load_tables)
    freeze_startup_objects()


async def _close(
    node: Node, gateway: Gateway, delay: float, tasks: Iterable[asyncio.Task[object]]
) -> None:
    """Drain and close; reset the connections that are open then, or when this is cancelled."""
    log.info("server_closing", connections=node.metrics.connections)
    node.readiness.is_stopping, node.metrics.is_ready = True, False
    try:
        await _drain(node, gateway, delay)
    finally:
        gateway.cut()
        for error in await cancel_all(tasks):
            log.error("server_fault", fault=error)
    log.info("server_closed")


async def _drain(node: Node, gateway: Gateway, delay: float) -> None:
    """Stop accepting connections, finish commands under way, and send players to another node."""
    # load balancers notice that this node is not ready; players play on meanwhile
    await asyncio.sleep(delay)
    node.readiness.is_draining = True
    gateway.stop_listening()
    try:
        async with asyncio.timeout(CLOSE_WITHIN):
            await gateway.drain(RESTARTING, node.dispatcher.is_racing)
            await gateway.close(RESTARTING)
            await node.stop()
    except TimeoutError:
        log.warning("server_aborted")


# The parts of a node


async def compose_table_cache(store: Stores) -> TableCache:
    """Return a table cache for an administrator's process: it serves no players and receives no events."""
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
    ranked_tables: RankedTables = RankedTables.ALL,
    steady: Callable[[], float] = time.monotonic,
    why_store_refused: WhyRefused = never_refused,
) -> Node:
    """Return a new node on this store. `program`: the server's name and version, as sent to clients."""
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
    races = RaceCache(store.boards, table_cache, broadcaster, peers, due_tables, deal)
    boards = BoardService(store.commits, races, broadcaster, clock)
    searches = StuckSearches(background_tasks)
    public_tables = PublicTables(store.tables, table_cache)
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
        ranked_tables,
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
        Sweeper(store.retention),
        broadcaster,
        peers,
        background_tasks,
    )
    readiness = Readiness(clock.synchronise, steady, why_store_refused)
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
        PlayHandlers(
            store.commits,
            races,
            table_service,
            PastBoards(store.boards, store.tables, table_cache, races, deal),
        ),
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
