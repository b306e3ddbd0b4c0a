"""Two nodes on one store, with a clock that only the test advances."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from kit.in_process_server import Deal, InProcessServer, counted_down, gathered, serving
from kit.players import MemoryPlayer
from kit.stepped_store import opened_on
from saratoga_rules.dealing.deal import deal_for_key
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS


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
