"""Table caches of several nodes on one store, at an invented time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from kit.fake_store import FakeHouse, FakeTables, fake_store
from kit.in_process_server import InventedTime
from kit.players import Received, RecordingConnection
from kit.tables import (
    CODE,
)
from saratoga_protocol.codec import CODECS
from saratoga_protocol.events import TableChanged
from saratoga_protocol.version import JSON
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
from saratoga_server.live.peers import Peers
from saratoga_server.live.session import Session
from saratoga_server.live.table_cache import TableCache, Transition
from saratoga_server.ports import Millis

OTHER = "odd-emu-11"

OPENING = deal_for_key(GAMES["canfield"], bytes(32))


@dataclass
class CachingNode:
    """A node's tables, and the events that a follower of `CODE` received there."""

    cache: TableCache
    peers: Peers
    due_tables: DueTables
    received: Received

    def notices(self) -> list[str]:
        """Return the notice of every table that was sent."""
        return [changed.table.notice for changed in self.received.all(TableChanged)]


@dataclass
class Caches:
    """Nodes on one store in memory, at an invented time."""

    fake: FakeHouse
    time: InventedTime

    async def node(
        self,
        tables: FakeTables | None = None,
        *,
        opening: Callable[[TableState], Position] = lambda state: OPENING,
        store_timeout: float = 6.0,
    ) -> CachingNode:
        """Return a node that knows of no other node; `store_timeout` in seconds."""
        store = fake_store(self.fake)
        store.events.is_listening = True
        tables = tables or store.tables
        broadcaster, clock = Broadcaster(), ServerClock(tables, self.time.steady)
        await clock.synchronise()
        peers = Peers("node", store.events, BackgroundTasks(), self.time.steady)
        due_tables = DueTables(clock)
        received = Received(CODECS[JSON])
        broadcaster.follow(
            Session(
                connection=RecordingConnection(received), codec=CODECS[JSON], address="", number=1
            ),
            CODE,
        )
        cache = TableCache(tables, broadcaster, clock, peers, due_tables, opening, store_timeout)
        return CachingNode(cache, peers, due_tables, received)


class SlowTables(FakeTables):
    """A table store whose reads wait for `may_read`; the first reads may fail."""

    def __init__(self, fake: FakeHouse, *faults: Exception) -> None:
        super().__init__(fake)
        self.reads = 0
        self.may_read = asyncio.Event()
        self.faults = list(faults)

    async def load_table(self, code: str) -> tuple[int, bytes] | None:
        self.reads += 1
        await self.may_read.wait()
        if self.faults:
            raise self.faults.pop()
        return await super().load_table(code)


def adding(text: str) -> Transition:
    """Return a transition that appends to the public notice."""

    def transition(state: TableState, now: Millis) -> Change:
        return Change(replace(state, notice=state.notice + text, touched=now))

    return transition
