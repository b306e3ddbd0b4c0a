"""Putting the house together on a store: used by the server, and by tests with another deal."""

import secrets
import time
from collections.abc import Callable

from saratoga_rules.deal import deal_for_key
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.clock import ServerClock
from saratoga_server.handlers.dispatcher import Dispatcher
from saratoga_server.handlers.identity import Identity
from saratoga_server.handlers.leaderboards import LeaderboardHandlers
from saratoga_server.handlers.seats import SeatHandlers
from saratoga_server.handlers.table_settings import TableHandlers
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.move_service import MoveService
from saratoga_server.live.peers import PeerEvents
from saratoga_server.live.race_finisher import RaceFinisher
from saratoga_server.live.races import Deal, RaceCache
from saratoga_server.live.readiness import Readiness
from saratoga_server.live.stuck_searches import StuckSearches
from saratoga_server.live.table_cache import TableCache, fresh_seed
from saratoga_server.metrics.counters import Metrics
from saratoga_server.stores import Stores


async def compose(
    store: Stores,
    node: str,
    program: str,
    metrics: Metrics,
    *,
    deal: Deal = deal_for_key,
    seed: Callable[[], bytes] = fresh_seed,
    steady: Callable[[], float] = time.monotonic,
) -> Dispatcher:
    """A house on this store. `node` gets an ending that no earlier process of that name had."""
    clock = ServerClock(store.tables, steady)
    await clock.synchronise()
    broadcaster = Broadcaster()
    this_node = f"{node}.{secrets.token_hex(3)}"
    await store.nodes.beat(this_node)
    table_cache = TableCache(store.tables, broadcaster, clock, seed)
    races = RaceCache(store.boards, table_cache, broadcaster, deal)
    table_cache.opening_banked = races.opening_banked
    moves = MoveService(store.boards, races, StuckSearches(), broadcaster, clock)
    lobby = SeatHandlers(
        store.tables, store.players, table_cache, races, moves, broadcaster, clock, this_node, seed
    )
    leaderboards = LeaderboardHandlers(
        store.leaderboards, store.tables, store.players, table_cache, broadcaster, clock, metrics
    )
    orders = AdminEvents(table_cache, lobby, leaderboards, broadcaster)
    background_tasks = BackgroundTasks()
    news = PeerEvents(
        this_node,
        store.news,
        store.players,
        table_cache,
        races,
        leaderboards,
        orders,
        broadcaster,
        background_tasks,
        metrics,
        steady,
    )
    return Dispatcher(
        table_cache=table_cache,
        races=races,
        moves=moves,
        lobby=lobby,
        tableside=TableHandlers(table_cache, seed),
        reception=Identity(store.players, clock, program, this_node),
        leaderboards=leaderboards,
        broadcaster=broadcaster,
        clock=clock,
        nodes=store.nodes,
        node=this_node,
        metrics=metrics,
        news=news,
        race_finisher=RaceFinisher(table_cache, races, moves, leaderboards, broadcaster, metrics),
        readiness=Readiness(clock.synchronise, steady),
        background_tasks=background_tasks,
    )
