"""Races of players who are all at different nodes, while nodes die and the news between them breaks off.

Each player keeps to one node. What the nodes tell each other goes over a connection of its own, so it
can be hurt alone: cut by the store, or half-open, with everything else as it should be.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from random import Random

import pytest

from kit import quick_countdown
from kit.catastrophes import Party, party_at, store_of
from kit.faulty_link import FaultyLink, link_to_store
from kit.figures import note
from kit.nodes import nodes_on
from kit.server_process import ServerProcess
from kit.stores import StoreServer

NODES = 3

LONGEST_PAUSE = 0.3
"""Seconds at most between everybody's racing and the next fault."""

Fault = Callable[[], Awaitable[None]]


@asynccontextmanager
async def evening(
    store: StoreServer, games: tuple[str, ...], pace: float
) -> AsyncIterator[tuple[Party, list[ServerProcess], list[FaultyLink]]]:
    """Four bots at each table, at three nodes, each node with a link of its own to the store."""
    async with AsyncExitStack() as stack:
        links = [
            await stack.enter_async_context(
                link_to_store(store.socket, store.folder / f"link-{place}")
            )
            for place in range(NODES)
        ]
        urls = [link.url for link in links]
        flags = ("--log-level", "warning")
        nodes = await stack.enter_async_context(
            nodes_on(urls, NODES, *flags, module=quick_countdown.MODULE)
        )
        doors = [node.url for node in nodes]
        party = await stack.enter_async_context(party_at(doors, games, pace, nodes[0], store))
        yield party, nodes, links


async def cut_the_news(store: StoreServer) -> None:
    """The store hangs up on all who listen."""
    await asyncio.to_thread(store.ask, "CLIENT", "KILL", "TYPE", "PUBSUB")


async def kill(node: ServerProcess) -> None:
    await node.kill()
    await node.start()


async def drop_store_connections(link: FaultyLink) -> None:
    link.go_half_open()


async def hang(store: StoreServer) -> None:
    """For longer than a probe of the news waits."""
    store.pause()
    await asyncio.sleep(3)
    store.resume()


async def under_fault(guests: Party, faults: list[Fault], chance: Random) -> tuple[int, int]:
    """Let each of them happen in mid-race, and hold every race against everybody's notes."""
    for fault in faults:
        await guests.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
        await fault()
    await guests.finish()
    async with store_of(guests) as store:
        audited = await guests.audit(store)
    for player in guests.players:
        twice = [race for race in player.notes.announced if player.notes.announced.count(race) > 1]
        assert twice == [], "the end of a race was told twice"
    return audited


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_races_over_several_nodes_go_on_whatever_breaks_between_them(
    mortal_store: StoreServer,
) -> None:
    chance = Random(mortal_store.binary)
    async with evening(mortal_store, ("lady-palk",), pace=120) as (guests, nodes, links):
        faults: list[Fault] = [
            partial(cut_the_news, mortal_store),
            partial(kill, nodes[1]),
            partial(cut_the_news, mortal_store),
            partial(drop_store_connections, links[2]),
            partial(kill, nodes[0]),
        ]
        races, moves = await under_fault(guests, faults, chance)
    assert races
    assert moves


@pytest.mark.long
async def test_races_over_several_nodes_go_on_however_often(mortal_store: StoreServer) -> None:
    chance = Random(f"long {mortal_store.binary}")
    async with evening(mortal_store, ("lady-palk", "canfield"), pace=20) as (guests, nodes, links):
        kinds: list[Fault] = [
            *(partial(kill, node) for node in nodes),
            *(partial(drop_store_connections, link) for link in links),
            *[partial(cut_the_news, mortal_store)] * NODES,
            partial(hang, mortal_store),
        ]
        faults = [chance.choice(kinds) for _ in range(60)]
        races, moves = await under_fault(guests, faults, chance)
    note(f"several nodes: {len(faults)} faults, {races} races, {moves} acknowledged moves, 0 lost")
