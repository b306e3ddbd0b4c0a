"""A house in the test's own process: on a store in memory at an invented time, or on a real store.

`rooms` is the former: no time passes but by `pass_time`, and so every race there is the same race
each time, but for the table's code; the tokens and seeds are always the same too.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TypeVar

import msgpack
import pytest

from kit.fake_news import FakeNews
from kit.fake_store import FakeHouse, FakeStore, fake_store
from kit.guests import Guest, GuestInMemory
from kit.tables import NOON
from saratoga_protocol.commands import CreateTable, JoinTable, ListTables, Start
from saratoga_protocol.events import Dealt, Done, Tables
from saratoga_protocol.version import MSGPACK
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.position import Position, parse_position
from saratoga_rules.records.standing import State
from saratoga_server.app import compose
from saratoga_server.domain.board import ENDING_OF_STATE, commit_of, ended
from saratoga_server.domain.tables import TableState
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS
from saratoga_server.domain.tables.state import FORMAT
from saratoga_server.live.admin_events import AdminEvents
from saratoga_server.messages.node_events import NodeEventListener
from saratoga_server.metrics.counters import Metrics
from saratoga_server.node import Node
from saratoga_server.ports import CommitStatus, Millis

PROGRAM = "saratoga-server test"

Deal = Callable[[Game, bytes], Position]
"""The opening position that belongs to a deal key."""

G = TypeVar("G", bound=Guest)


@dataclass
class InventedTime:
    """A moment that passes when it is told to."""

    at: int = NOON

    def millis(self) -> Millis:
        return Millis(self.at)

    def steady(self) -> float:
        """Seconds, for the house's clock."""
        return (self.at - NOON) / 1000


def seeds() -> Callable[[], bytes]:
    """The same seeds in the same order every time."""
    numbers = count(1)
    return lambda: next(numbers).to_bytes(32, "big")


def always(dealt: str | Position) -> Deal:
    """Every deal is this position."""
    position = parse_position(dealt) if isinstance(dealt, str) else dealt
    return lambda game, key: position


@dataclass
class HouseInMemory:
    """A house on a store in memory, and the time there."""

    fake: FakeHouse
    time: InventedTime
    house: Node
    store: FakeStore
    guests: list[GuestInMemory] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._open()

    def _open(self) -> None:
        if isinstance(self.store.events, FakeNews):
            self.store.house.ears.append(self.house.peer_events)
            self.store.events.is_listening = True

    async def guest(
        self,
        name: str,
        *,
        bot: bool = False,
        legal: bool = False,
        subprotocol: str = MSGPACK,
    ) -> GuestInMemory:
        """Somebody who has said hello."""
        guest = self.stranger(name, bot=bot, legal=legal, subprotocol=subprotocol)
        await guest.hello()
        return guest

    def stranger(
        self,
        name: str,
        *,
        bot: bool = False,
        legal: bool = False,
        subprotocol: str = MSGPACK,
    ) -> GuestInMemory:
        """A connection that has said nothing yet."""
        guest = GuestInMemory(
            self.house.dispatcher, name, bot=bot, legal=legal, subprotocol=subprotocol
        )
        self.guests.append(guest)
        return guest

    @property
    def orders(self) -> AdminEvents:
        return self.house.admin_events

    def state(self, code: str) -> TableState:
        """All that the house knows of the table, secrets and all."""
        room = self.house.table_cache.known(code)
        assert room is not None
        return room.state

    async def settle(self) -> None:
        """Let everything come to its end that the house does in the background."""
        await self.house.scheduler.take_due()
        await self.house.background_tasks.finish()

    async def pass_time(self, millis: int) -> None:
        """So much time passes; the house looks what it did, and the standings go out."""
        self.time.at += millis
        await self.settle()
        await self.house.scheduler.sweep()
        await self.house.leaderboards.settle()
        await self.settle()
        list(self.house.broadcaster.send_standings())
        await self.house.leaderboards.send_changes()

    async def race(self, *guests: GuestInMemory, game: str = "canfield", cap: int = 10) -> str:
        """These guests at a table of the first one's, dealt; returns the table's code."""
        code = await gathered(*guests, game=game, cap=cap)
        await self.deal(*guests)
        return code

    async def deal(self, *guests: GuestInMemory) -> None:
        """All get ready at the table where they sit, and the first one starts."""
        await counted_down(*guests)
        await self.pass_time(COUNTDOWN_MILLIS)
        for guest in guests:
            assert guest.heard.all(Dealt)

    async def restart(self, deal: Deal = deal_for_key) -> None:
        """The process dies with all it knew, and another opens on the same store."""
        self._hears_no_more()
        dead = self.house
        dead.searches.stop()
        await dead.background_tasks.finish()
        await dead.nodes.gone(dead.name)
        self.guests.clear()
        self.house = await open_in_memory(self.store, self.time, deal)
        self._open()

    async def close(self) -> None:
        self._hears_no_more()
        await self.house.stop()

    def _hears_no_more(self) -> None:
        ears: list[NodeEventListener] = self.store.house.ears
        if self.house.peer_events in ears:
            ears.remove(self.house.peer_events)


async def gathered(
    host: Guest, *others: Guest, game: str = "canfield", cap: int = 10, public: bool = False
) -> str:
    """All of them at a table of the host's; returns its code."""
    snapshot = await host.at_table(CreateTable, game=game, cap=cap, public=public)
    for other in others:
        await other.at_table(JoinTable, table=snapshot.table.code)
    return snapshot.table.code


async def listed(guest: Guest) -> list[tuple[str, str, int]]:
    """Host, phase and racers of every public table, as the guest is told them."""
    answer = await guest.ask(ListTables)
    assert isinstance(answer, Tables)
    return [(each.host, each.phase, each.seated) for each in answer.tables]


async def counted_down(host: Guest, *others: Guest) -> None:
    """All are ready, the host has started, and every nonce is shown."""
    for guest in (host, *others):
        answer = await guest.ready()
        assert isinstance(answer, Done), answer
    answer = await host.ask(Start, table=host.table.code)
    assert isinstance(answer, Done), answer
    for guest in (host, *others):
        answer = await guest.reveal()
        assert isinstance(answer, Done), answer


def for_newer_nodes(rooms: HouseInMemory, code: str, by: int = 1) -> None:
    """The table is of a later format now; with a negative number, of an earlier one."""
    version, body = rooms.fake.tables[code]
    read = msgpack.unpackb(body)
    read["format"] = read.get("format", FORMAT) + by
    rooms.fake.tables[code] = (version + 1, msgpack.packb(read))


async def cash_out_unnoticed(rooms: HouseInMemory, guest: GuestInMemory) -> None:
    """End the guest's board in the store, as a node does that dies before it does anything else."""
    race = rooms.house.races.known(guest.board.race)
    assert race is not None
    _, board = await rooms.house.races.board(race, guest.player)
    after, entries = ended(board, State.CASHED_OUT), (ENDING_OF_STATE[State.CASHED_OUT],)
    table, number = race.code, race.number
    commit = commit_of(board, after, entries, table=table, race=number, player=guest.player)
    assert (await rooms.store.commits.commit(commit)).status is CommitStatus.DONE


async def open_in_memory(
    store: FakeStore, time: InventedTime, deal: Deal = deal_for_key, node: str = "node"
) -> Node:
    return await compose(
        store, node, PROGRAM, Metrics(), deal=deal, new_seed=seeds(), steady=time.steady
    )


@asynccontextmanager
async def house_in_memory(deal: Deal = deal_for_key) -> AsyncIterator[HouseInMemory]:
    """A house on an empty store in memory; `deal` deals its races."""
    time = InventedTime()
    fake = FakeHouse(clock=time.millis)
    store = fake_store(fake)
    rooms = HouseInMemory(fake, time, await open_in_memory(store, time, deal), store)
    try:
        yield rooms
    finally:
        fake.unavailable = False
        await rooms.close()


@pytest.fixture
async def rooms() -> AsyncIterator[HouseInMemory]:
    """A house on an empty store in memory, at an invented time."""
    async with house_in_memory() as opened:
        yield opened
