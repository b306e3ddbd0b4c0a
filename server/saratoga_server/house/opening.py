"""Putting the house together on a store: used by the server, and by tests with another deal."""

import secrets
import time
from collections.abc import Callable

from saratoga_rules.deal import deal_for_key
from saratoga_server.clock import HouseClock
from saratoga_server.errands import Errands
from saratoga_server.floor.floor import Floor, fresh_seed
from saratoga_server.floor.hub import Hub
from saratoga_server.gauges.metrics import Metrics
from saratoga_server.house.house import House
from saratoga_server.house.lobby import Lobby
from saratoga_server.house.news import News
from saratoga_server.house.orders import Orders
from saratoga_server.house.readiness import Readiness
from saratoga_server.house.reception import Reception
from saratoga_server.house.stores import Stores
from saratoga_server.house.tableside import Tableside
from saratoga_server.racing.archive import Archive
from saratoga_server.racing.dealer import Dealer
from saratoga_server.racing.races import Deal, Races
from saratoga_server.racing.reckoner import Reckoner
from saratoga_server.racing.searches import Searches


async def open_house(
    store: Stores,
    node: str,
    program: str,
    metrics: Metrics,
    *,
    deal: Deal = deal_for_key,
    seed: Callable[[], bytes] = fresh_seed,
    steady: Callable[[], float] = time.monotonic,
) -> House:
    """A house on this store. `node` gets an ending that no earlier process of that name had."""
    clock = HouseClock(store.tables, steady)
    await clock.synchronise()
    hub = Hub()
    this_node = f"{node}.{secrets.token_hex(3)}"
    await store.nodes.beat(this_node)
    floor = Floor(store.tables, hub, clock, seed)
    races = Races(store.boards, floor, hub, deal)
    floor.opening_banked = races.opening_banked
    dealer = Dealer(store.boards, races, Searches(), hub, clock)
    lobby = Lobby(store.tables, store.players, floor, races, dealer, hub, clock, this_node, seed)
    archive = Archive(store.leaderboards, store.tables, store.players, floor, hub, clock, metrics)
    orders = Orders(floor, lobby, archive, hub)
    errands = Errands()
    news = News(
        this_node,
        store.news,
        store.players,
        floor,
        races,
        archive,
        orders,
        hub,
        errands,
        metrics,
        steady,
    )
    return House(
        floor=floor,
        races=races,
        dealer=dealer,
        lobby=lobby,
        tableside=Tableside(floor, seed),
        reception=Reception(store.players, clock, program, this_node),
        archive=archive,
        hub=hub,
        clock=clock,
        nodes=store.nodes,
        node=this_node,
        metrics=metrics,
        news=news,
        reckoner=Reckoner(floor, races, dealer, archive, hub, metrics),
        readiness=Readiness(clock.synchronise, steady),
        errands=errands,
    )
