"""Putting the house together on a store: used by the server, and by tests with another deal."""

import secrets
import time
from collections.abc import Callable
from typing import Protocol

from saratoga_rules.deal import deal_for_key
from saratoga_server.archive import Archive
from saratoga_server.clock import HouseClock
from saratoga_server.dealer import Deal, Dealer
from saratoga_server.floor import Floor, fresh_seed
from saratoga_server.house import House
from saratoga_server.hub import Hub
from saratoga_server.lobby import Lobby
from saratoga_server.metrics import Metrics
from saratoga_server.ports import (
    BoardStore,
    LeaderboardStore,
    NodeStore,
    PlayerStore,
    TableStore,
)
from saratoga_server.reception import Reception


class Stores(Protocol):
    """What the house needs of a store, in one."""

    @property
    def boards(self) -> BoardStore: ...
    @property
    def tables(self) -> TableStore: ...
    @property
    def players(self) -> PlayerStore: ...
    @property
    def leaderboards(self) -> LeaderboardStore: ...
    @property
    def nodes(self) -> NodeStore: ...


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
    dealer = Dealer(store.boards, floor, hub, clock, deal)
    floor.opening_banked = dealer.opening_banked
    return House(
        floor=floor,
        dealer=dealer,
        lobby=Lobby(store.tables, store.players, floor, dealer, hub, clock, this_node, seed),
        reception=Reception(store.players, clock, program, this_node),
        archive=Archive(store.leaderboards, store.tables, store.players, floor, hub, clock),
        hub=hub,
        clock=clock,
        nodes=store.nodes,
        node=this_node,
        metrics=metrics,
    )
