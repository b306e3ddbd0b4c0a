"""A server in the test's own process, on an embedded Valkey, with a clock that the test advances.

The fixture `server` provides one. Time passes only in `pass_time`, and tokens and seeds are always
the same. So a test has the same races in every run; only the tables' codes differ.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from kit.gateways import open_gateway
from kit.players import RECEIVED_WITHIN, MemoryPlayer, Player
from kit.stores import (
    InventedTime,
    SteppedStore,
    StoreFaults,
    StoreServer,
    opened_on,
    stepped_store,
)
from saratoga_protocol.commands import CreateTable, JoinTable, ListTables, Start
from saratoga_protocol.events import Done, Tables
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.position import Position, parse_position
from saratoga_server.background_tasks import cancel_all
from saratoga_server.domain import tables
from saratoga_server.domain.tables import RankedTables, TablePhase, TableState
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.live.listener import Listener
from saratoga_server.live.scheduler import LOOK_EVERY
from saratoga_server.metrics import Metrics
from saratoga_server.node import Node
from saratoga_server.ports import PlayerRow, StoredBoard
from saratoga_server.store.keys import NEWS
from saratoga_server.store.news import Here, News, decode_node_event
from saratoga_server.store.opening import Store, open_store
from saratoga_server.transport.http_api import HttpPages


class EventTap:
    """A subscriber that passes the store's events on to a node, except while `is_deaf` is true."""

    def __init__(self, node: str, listener: Listener) -> None:
        self.listener = listener
        self.is_deaf = False
        """While true, the node receives no events."""
        self.marker = Here(node, 0)
        """A heartbeat of the node, which other nodes receive too."""
        self._progress = asyncio.Event()
        self._markers = 0

    async def receive(self, channel: PubSub) -> None:
        async for message in channel.listen():
            event = decode_node_event(message["data"])
            if event == self.marker:
                self._markers += 1
                self._progress.set()
            elif not self.is_deaf:
                self.listener.receive(event)

    async def pass_marker(self, events: News) -> None:
        """Publish a marker and wait for it; all earlier events have then been received."""
        wanted = self._markers + 1
        await events.publish(self.marker)
        async with asyncio.timeout(RECEIVED_WITHIN):
            while self._markers < wanted:
                self._progress.clear()
                await self._progress.wait()


@asynccontextmanager
async def tapped(url: str, node: str, listener: Listener) -> AsyncIterator[EventTap]:
    """Subscribe a node to the events of the store at that address."""
    tap = EventTap(node, listener)
    async with Redis.from_url(url) as client, client.pubsub() as channel:
        await channel.subscribe(NEWS)
        assert await channel.get_message(timeout=RECEIVED_WITHIN) is not None
        receiving = asyncio.create_task(tap.receive(channel))
        try:
            yield tap
        finally:
            receiving.cancel()
            await asyncio.wait([receiving])
    await asyncio.sleep(0)


PROGRAM = "saratoga-server test"

Deal = Callable[[Game, bytes], Position]
"""A function that returns the opening position for a game and a deal key."""


def seeds() -> Callable[[], bytes]:
    """Return a source of seeds, which yields the same seeds in every test."""
    numbers = count(1)
    return lambda: next(numbers).to_bytes(32, "big")


def always(dealt: str | Position) -> Deal:
    """Return a `Deal` that always deals this position."""
    position = parse_position(dealt) if isinstance(dealt, str) else dealt
    return lambda game, key: position


@dataclass
class InProcessServer:
    """A server with its own store, both with a clock that only the test advances."""

    store: SteppedStore
    time: InventedTime
    node: Node
    tap: EventTap
    players: list[MemoryPlayer] = field(default_factory=list)
    looked_at: int = 0
    """When the running boards were last looked over."""

    def __post_init__(self) -> None:
        self.looked_at = self.time.at

    @property
    def faults(self) -> StoreFaults:
        return self.store.faults

    @property
    def real(self) -> Store:
        """The store without faults, to check what is stored."""
        return self.store.real

    async def row(self, player: str) -> PlayerRow:
        """Return the stored row of a player."""
        row = await self.real.players.load_player(player)
        assert row is not None
        return row

    async def stored(self, code: str) -> tuple[int, bytes]:
        """Return the version and the encoded body of a stored table."""
        found = await self.real.tables.load_table(code)
        assert found is not None
        return found

    async def codes(self) -> list[str]:
        """Return the codes of all stored tables."""
        return [code async for code in self.real.tables.all_codes()]

    async def board(self, code: str, player: str) -> StoredBoard:
        """Return the stored board of a player in a table's first race."""
        board = await self.real.boards.load_board(code, 1, player)
        assert board is not None
        return board

    async def record(self, code: str) -> str | None:
        """Return the stored record of a table's first race; `None` if there is none."""
        return await self.real.tables.load_record(code, 1)

    async def is_alive(self, node: str) -> bool:
        """Return whether the store shows a node as alive."""
        return not await self.real.nodes.dead([node])

    async def player(self, name: str, **options: Any) -> MemoryPlayer:
        """Connect a player who has said hello, with options of `MemoryPlayer`."""
        player = self.connect(name, **options)
        await player.hello()
        return player

    def connect(self, name: str, **options: Any) -> MemoryPlayer:
        """Connect a player who has not said hello."""
        player = MemoryPlayer(
            self.node.dispatcher, name, pass_time_until=self.pass_time_until, **options
        )
        self.players.append(player)
        return player

    def next_look(self) -> float:
        """Return when the next timer of a race running here has run out at every node.

        In milliseconds since 1970 UTC; infinite if there is none.
        """
        held = (table.state for table in self.node.tables.all())
        due = (tables.due(state) for state in held if state.phase is TablePhase.RUNNING)
        return min((at for at in due if at is not None), default=inf)

    def state(self, code: str) -> TableState:
        """Return the server's whole state of the table, secrets included."""
        table = self.node.tables.known(code)
        assert table is not None
        return table.state

    async def settle(self) -> None:
        """Wait until the server has finished its background work."""
        self.node.scheduler.apply_due()
        await self.node.background_tasks.finish()
        await self.tap.pass_marker(self.real.events)
        await self.node.background_tasks.finish()

    async def pass_time(self, millis: int) -> None:
        """Advance the time, run everything that is due, and send the standings to players.

        While a race runs, the time passes in steps, so that all timers are applied in time: a late
        one would show that nobody was served meanwhile.
        """
        until = self.time.at + millis
        while (at := self.next_look()) < until and self.time.at < until:
            # at least a second: nothing applies a timer while the store is away
            self.time.at = min(until, max(self.time.at + 1000, int(at)))
            await self.settle()
        self.time.at = until
        await self.settle()
        await self.node.scheduler.sweep()
        await self.node.scheduler.look_around()
        if self.time.at - self.looked_at >= LOOK_EVERY * 1000:
            self.looked_at = self.time.at
            await self.node.scheduler.look_over_boards()
        await self.settle()
        list(self.node.broadcaster.send_standings())
        await self.node.scheduler.send_followed()

    async def pass_time_until(self, at: int) -> None:
        """Advance the time to `at`, unless it is later already."""
        await self.pass_time(max(0, at - self.time.at))

    async def race(self, *players: MemoryPlayer, game: str = "canfield", cap: int = 10) -> str:
        """Start a race at a new table of the first player; return the table's code."""
        code = await gathered(*players, game=game, cap=cap)
        await self.deal(*players)
        return code

    async def two_racing(self, **settings: Any) -> tuple[MemoryPlayer, MemoryPlayer, str]:
        """Start a race of Anna and Bert; return both and the table's code."""
        anna, bert = await self.player("Anna"), await self.player("Bert")
        return anna, bert, await self.race(anna, bert, **settings)

    async def deal(self, *players: MemoryPlayer) -> None:
        """Make all players ready, start the race, and wait until its boards are dealt."""
        await counted_down(*players)
        await self.pass_time(COUNTDOWN_MILLIS)
        for player in players:
            assert player.received.deals()

    async def restart(self, deal: Deal = deal_for_key) -> None:
        """Discard the server, as if its process had died; open another server on the same store."""
        dead = self.node
        dead.searches.stop()
        await dead.background_tasks.finish()
        await dead.store.nodes.gone(dead.name)
        self.players.clear()
        self.node = await compose_node(self.store, self.time, deal)
        self.tap.listener = self.node.listener


async def gathered(
    host: Player,
    *others: Player,
    game: str = "canfield",
    cap: int = 10,
    public: bool = False,
    races: int = 1,
) -> str:
    """Create a table for the host and let the others join; return the table's code."""
    snapshot = await host.at_table(CreateTable, game=game, cap=cap, public=public, races=races)
    for other in others:
        await other.at_table(JoinTable, table=snapshot.table.code)
    return snapshot.table.code


async def listed(player: Player) -> list[tuple[str, str, int]]:
    """Return host, phase and number of seated players of every public table."""
    answer = await player.ask(ListTables)
    assert isinstance(answer, Tables)
    return [(each.host, each.phase, each.seated) for each in answer.tables]


async def counted_down(host: Player, *others: Player) -> None:
    """Make all players ready, start the race as its host, and reveal every player's nonce."""
    for player in (host, *others):
        answer = await player.ready()
        assert isinstance(answer, Done), answer
    answer = await host.ask(Start, table=host.table.code)
    assert isinstance(answer, Done), answer
    for player in (host, *others):
        answer = await player.reveal()
        assert isinstance(answer, Done), answer


async def compose_node(
    store: Store,
    time: InventedTime,
    deal: Deal = deal_for_key,
    node: str = "node",
    ranked_tables: RankedTables = RankedTables.ALL,
) -> Node:
    return await Node.opened(
        store,
        node,
        PROGRAM,
        Metrics(),
        deal=deal,
        new_seed=seeds(),
        steady=time.steady,
        ranked_tables=ranked_tables,
    )


@asynccontextmanager
async def serving(
    store: SteppedStore,
    deal: Deal = deal_for_key,
    node: str = "node",
    ranked_tables: RankedTables = RankedTables.ALL,
) -> AsyncIterator[InProcessServer]:
    """Open a server on this store; it receives the store's events until the end of the block."""
    composed = await compose_node(store, store.time, deal, node, ranked_tables)
    async with tapped(store.server.url, composed.name, composed.listener) as tap:
        server = InProcessServer(store, store.time, composed, tap)
        try:
            yield server
        finally:
            store.faults.unavailable = False
            await server.node.stop()


@asynccontextmanager
async def open_in_process_server(
    deal: Deal = deal_for_key, ranked_tables: RankedTables = RankedTables.ALL
) -> AsyncIterator[InProcessServer]:
    """Open a server on an empty store; `deal` deals its races."""
    async with (
        stepped_store() as store,
        serving(store, deal, ranked_tables=ranked_tables) as server,
    ):
        yield server


@pytest.fixture
async def server() -> AsyncIterator[InProcessServer]:
    """A server on an empty store, with a clock that only the test advances."""
    async with open_in_process_server() as opened:
        yield opened


@dataclass
class Nodes:
    """Two nodes, east and west, that share a store and a clock."""

    east: InProcessServer
    west: InProcessServer

    async def settle(self) -> None:
        """Wait until both nodes have finished their background work and published their events."""
        for node in (self.east, self.west, self.east, self.west):
            await node.settle()
        for node in (self.east, self.west):
            await node.settle()

    async def pass_time(self, millis: int) -> None:
        time = self.east.time
        until = time.at + millis
        while (at := min(self.east.next_look(), self.west.next_look())) < until and time.at < until:
            time.at = min(until, max(time.at + 1000, int(at)))
            await self.settle()
        time.at = until
        for _ in range(2):
            for node in (self.east, self.west):
                await node.pass_time(0)
                await self.settle()

    async def race(self, *players: MemoryPlayer, cap: int = 10, races: int = 1) -> str:
        code = await gathered(*players, cap=cap, races=races)
        await self.settle()
        await counted_down(*players)
        await self.pass_time(COUNTDOWN_MILLIS)
        for player in players:
            assert len(player.received.deals()) == 1, player.name
        return code

    async def two(self) -> tuple[MemoryPlayer, MemoryPlayer]:
        """Connect Anna to the east node and Bert to the west node."""
        return await self.east.player("Anna"), await self.west.player("Bert")

    async def two_racing(self, **settings: Any) -> tuple[MemoryPlayer, MemoryPlayer, str]:
        """Start a race of Anna and Bert; return both and the table's code."""
        anna, bert = await self.two()
        return anna, bert, await self.race(anna, bert, **settings)


@asynccontextmanager
async def beside(server: InProcessServer, deal: Deal = deal_for_key) -> AsyncIterator[Nodes]:
    """Open a second node on the store of the first."""
    east = server.store
    async with (
        opened_on(east.server, east.time, east.faults) as store,
        serving(store, deal, node="west") as west,
    ):
        yield Nodes(server, west)


@pytest.fixture
async def nodes(server: InProcessServer) -> AsyncIterator[Nodes]:
    """Two nodes on one store."""
    async with beside(server) as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class ListeningServer:
    """A server that players can connect to."""

    node: Node
    port: int
    url: str
    """The address for players."""


@asynccontextmanager
async def listening_server(store: Store) -> AsyncIterator[ListeningServer]:
    """Run a server without rate limits and without the page on this store."""
    metrics = Metrics()
    node = await Node.opened(store, "node", PROGRAM, metrics, deal=deal_for_key)
    duties = [
        asyncio.create_task(node.scheduler.run()),
        asyncio.create_task(node.listener.run()),
    ]
    try:
        pages = HttpPages(node, None)
        async with open_gateway(node.dispatcher, metrics, pages=pages) as opened:
            yield ListeningServer(node, opened.port, opened.url)
    finally:
        await node.stop()
        faults = await cancel_all(duties)
    assert faults == []


@pytest.fixture
async def valkey(store_servers: dict[str, StoreServer]) -> AsyncIterator[Store]:
    """An empty, opened Valkey."""
    server = store_servers["valkey"]
    server.empty()
    async with open_store(server.url) as opened:
        yield opened


@pytest.fixture
async def listener(
    valkey: Store, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ListeningServer]:
    """A server that players can connect to, with a countdown of an instant."""
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.CALL_MILLIS", 1)
    monkeypatch.setattr("saratoga_server.domain.tables.countdown.COUNTDOWN_MILLIS", 50)
    async with listening_server(valkey) as opened:
        yield opened


def counted(metrics: Metrics, name: str, **labels: str) -> float | None:
    """Return the value of the metric `saratoga_NAME`; `None` if nothing was counted."""
    return metrics.registry.get_sample_value(f"saratoga_{name}", labels)
