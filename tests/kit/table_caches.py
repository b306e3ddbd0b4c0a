"""Table caches of several nodes on one store, with a clock that only the test advances."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from msgspec.structs import replace

from kit.players import Received, RecordingConnection
from kit.stepped_store import InventedTime, SteppedStore, StoreFaults
from kit.tables import (
    CODE,
)
from saratoga_protocol.codec import CODECS, JSON
from saratoga_protocol.events import TableChanged
from saratoga_protocol.refusals import CloseCode
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.games import GAMES
from saratoga_rules.position import Position
from saratoga_server.background_tasks import BackgroundTasks
from saratoga_server.clock import ServerClock
from saratoga_server.domain.tables import (
    Change,
    TableState,
)
from saratoga_server.live.broadcaster import Broadcaster
from saratoga_server.live.due_tables import DueTables
from saratoga_server.live.live_table import LiveTable
from saratoga_server.live.peers import Peers
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache, Transition
from saratoga_server.messages.node_events import NodeEvent
from saratoga_server.ports import Millis
from saratoga_server.store.event_channel import EventChannel
from saratoga_server.store.tables import TableStore, TableWrite

OTHER = "odd-emu-11"

OPENING = deal_for_key(GAMES["canfield"], bytes(32))


@dataclass
class CachingNode:
    """A node's table cache, and the events that a watcher of the table `CODE` received from it."""

    cache: TableCache
    peers: Peers
    due_tables: DueTables
    store: TableStore
    received: Received
    closed: list[CloseCode]
    """The codes with which the node has closed the watcher's connection."""

    async def open(self, state: TableState) -> LiveTable:
        """Store a new table, whose players need no rows, and return it."""
        write = TableWrite(version=0, before=state, after=state)
        assert await self.store.save_table(write) is None
        table = await self.cache.get(state.code)
        await self.cache.change(state.code, lambda state, now: None)
        assert self.due_tables.take_due() == state.code, "a table that was read is looked at"
        return table

    def notices(self) -> list[str]:
        """Return the public notice in each table that the watcher received."""
        return [changed.table.notice for changed in self.received.all(TableChanged)]


@dataclass
class Caches:
    """The store and the clock that all nodes of a test share."""

    store: SteppedStore

    @property
    def time(self) -> InventedTime:
        return self.store.time

    @property
    def faults(self) -> StoreFaults:
        return self.store.faults

    async def version(self) -> int:
        """Return the version of the stored table `CODE`."""
        return (await self.store.stored(CODE))[0]

    async def node(
        self,
        tables: object = None,
        *,
        opening: Callable[[TableState], Position] = lambda state: OPENING,
        store_timeout: float = 6.0,
    ) -> CachingNode:
        """Return a node that knows of no other node; `store_timeout` in seconds."""
        store = cast(TableStore, tables or self.store.tables)
        broadcaster, clock = Broadcaster(), ServerClock(store.now, self.time.steady)
        await clock.synchronise()
        peers = Peers(
            "node", cast(EventChannel, QuietEvents()), BackgroundTasks(), self.time.steady
        )
        due_tables = DueTables(clock)
        received = Received(CODECS[JSON])
        watcher = RecordingConnection(received)
        broadcaster.follow(
            Session(connection=watcher, codec=CODECS[JSON], address="", number=1), CODE
        )
        cache = TableCache(store, broadcaster, clock, peers, due_tables, opening, store_timeout)
        return CachingNode(cache, peers, due_tables, store, received, watcher.closed)


class QuietEvents:
    """An event port of a node that counts as listening and publishes nothing."""

    is_listening = True

    async def publish(self, event: NodeEvent) -> int:
        return 0


class WrappedTables:
    """A table store that calls another one; subclasses replace some methods."""

    def __init__(self, caches: Caches) -> None:
        self.tables = caches.store.tables

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tables, name)


class SlowTables(WrappedTables):
    """A table store whose reads wait for `may_read`; the first reads may fail."""

    def __init__(self, caches: Caches, *faults: Exception) -> None:
        super().__init__(caches)
        self.reads = 0
        self.may_read = asyncio.Event()
        self.faults = list(faults)

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        self.reads += 1
        await self.may_read.wait()
        if self.faults:
            raise self.faults.pop()
        return await self.tables.load_table(code)


def adding(text: str) -> Transition:
    """Return a transition that appends a text to the table's public notice."""

    def transition(state: TableState, now: Millis) -> Change:
        return Change(replace(state, notice=state.notice + text, touched=now))

    return transition
