"""Two nodes of one house, on a store in memory and at an invented time."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kit.fake_store import fake_store
from kit.guests import GuestInMemory
from kit.rooms import HouseInMemory, counted_down, gathered, open_in_memory
from saratoga_protocol.events import Dealt
from saratoga_server.domain.tables.countdown import COUNTDOWN_MILLIS


@dataclass
class Nodes:
    """Two nodes, and the time that passes on both."""

    east: HouseInMemory
    west: HouseInMemory

    async def settle(self) -> None:
        """Let both come to their end with what they do, and tell each other."""
        for node in (self.east, self.west, self.east, self.west):
            await node.settle()
            await node.house.peers.publish_standings()

    async def pass_time(self, millis: int) -> None:
        self.east.time.at += millis
        for _ in range(2):
            for node in (self.east, self.west):
                await node.pass_time(0)
                await self.settle()

    async def race(self, *guests: GuestInMemory, cap: int = 10) -> str:
        code = await gathered(*guests, cap=cap)
        await self.settle()
        await counted_down(*guests)
        await self.pass_time(COUNTDOWN_MILLIS)
        for guest in guests:
            assert len(guest.heard.all(Dealt)) == 1, guest.name
        return code

    async def two(self) -> tuple[GuestInMemory, GuestInMemory]:
        """Anna in the east, Bert in the west."""
        return await self.east.guest("Anna"), await self.west.guest("Bert")


@asynccontextmanager
async def beside(rooms: HouseInMemory) -> AsyncIterator[Nodes]:
    """That node, with another on the same store."""
    store = fake_store(rooms.fake)
    house = await open_in_memory(store, rooms.time, node="west")
    west = HouseInMemory(rooms.fake, rooms.time, house, store)
    for node in (rooms, west):
        node.house.peer_events.counted(2)
    yield Nodes(rooms, west)
    await west.close()
