"""Players of one table at several nodes: nobody can tell, whatever happens to whom.

Every node is a server process of its own; all they share is a real store.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import pytest_asyncio

from kit.nodes import nodes_on
from kit.rooms import counted_down, gathered
from kit.sockets import GuestOnTheWire, guest
from kit.stores import StoreServer
from saratoga_protocol.commands import CashOut, GetRecord, WatchTable
from saratoga_protocol.events import (
    BoardView,
    Dealt,
    MoveMade,
    RaceOver,
    Record,
    Standings,
    TableChanged,
)
from saratoga_rules.verify import verify

NODES = 3
NAMES = ("Anna", "Bert", "Cleo", "Dora")


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(store_servers: dict[str, StoreServer]) -> AsyncIterator[list[str]]:
    """The addresses of three nodes on one store."""
    store_servers["valkey"].empty()
    async with nodes_on(store_servers["valkey"].url, NODES) as nodes:
        yield [node.url for node in nodes]


@asynccontextmanager
async def players(doors: list[str], names: tuple[str, ...]) -> AsyncIterator[list[GuestOnTheWire]]:
    """A player of each name, each at the next node."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(guest(doors[place % len(doors)], name, legal=True))
            for place, name in enumerate(names)
        ]


async def plays(racer: GuestOnTheWire, moves: int) -> BoardView:
    for _ in range(moves):
        legal = racer.board.legal
        assert legal
        up = [move for move in legal if move.endswith(">up")]
        answer = await racer.move((up or ["draw"] if "draw" in legal else legal)[0])
        assert isinstance(answer, MoveMade), answer
    return racer.board


async def test_a_race_over_three_nodes_is_one_race(doors: list[str]) -> None:
    async with players(doors, NAMES) as racers, guest(doors[1], "Wanda") as wanda:
        code = await gathered(*racers)
        await wanda.at_table(WatchTable, table=code)
        await counted_down(*racers)
        deals = [await racer.heard.next(Dealt, 0) for racer in racers]
        assert len({deal.start_at for deal in deals}) == 1
        assert len({str(deal.board.view) for deal in deals}) == 1
        boards = [await plays(racer, 12) for racer in racers]
        for racer, board in zip(racers, boards, strict=True):
            for other in (*racers, wanda):
                await stands(other, racer.player, board.banked)
        for racer in racers:
            await racer.ask(CashOut, race=racer.board.race)
        overs = [await other.heard.next(RaceOver, 0) for other in (*racers, wanda)]
        assert all(over == overs[0] for over in overs)
        record = await wanda.ask(GetRecord, race=overs[0].outcome.race)
        assert isinstance(record, Record)
        assert verify(record.text.encode()).ok
        for other in (*racers, wanda):
            assert len(other.heard.all(RaceOver)) == 1
            assert other.heard.all(TableChanged)[-1].table.phase == "over"


async def stands(guest: GuestOnTheWire, player: str, banked: int) -> None:
    """Wait until that guest has been told that the player has banked so many."""
    since = 0
    while True:
        for told in guest.heard.all(Standings, since):
            if any(row.player == player and row.banked == banked for row in told.standings):
                return
        since = len(guest.heard.events)
        await guest.heard.next(Standings, since)
