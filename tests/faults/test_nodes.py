"""Races of players at different nodes, while nodes die and the events between them are lost.

Each player stays at one node. Nodes receive events over connections of their own, so a test can break
only those: the store closes them, or they become half-open.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from random import Random

import pytest

from kit.altered_server import QUICK
from kit.faulty_link import FaultyLink, link_to_store
from kit.programs import note
from kit.racing_bots import RacingBots, racing_bots_at, store_of
from kit.server_process import ServerProcess, nodes_on
from kit.stores import StoreServer

NODES = 3

LONGEST_PAUSE = 0.3
"""Longest time in seconds that all players race before the next fault."""

Fault = Callable[[], Awaitable[None]]


@asynccontextmanager
async def racing_at_nodes(
    store: StoreServer, games: tuple[str, ...], pace: float
) -> AsyncIterator[tuple[RacingBots, list[ServerProcess], list[FaultyLink]]]:
    """Seat four bots at each table, at three nodes, each with its own link to the store."""
    async with AsyncExitStack() as stack:
        links = [
            await stack.enter_async_context(
                link_to_store(store.socket, store.folder / f"link-{place}")
            )
            for place in range(NODES)
        ]
        urls = [link.url for link in links]
        flags = ("--log-level", "warning")
        nodes = await stack.enter_async_context(nodes_on(urls, NODES, *flags, module=QUICK))
        doors = [node.url for node in nodes]
        racing_bots = await stack.enter_async_context(
            racing_bots_at(doors, games, pace, nodes[0], store)
        )
        yield racing_bots, nodes, links


async def close_event_connections(store: StoreServer) -> None:
    """Let the store close all subscribed connections."""
    await asyncio.to_thread(store.ask, "CLIENT", "KILL", "TYPE", "PUBSUB")


async def kill(node: ServerProcess) -> None:
    await node.kill()
    await node.start()


async def drop_store_connections(link: FaultyLink) -> None:
    link.go_half_open()


async def hang(store: StoreServer) -> None:
    """Hang the store for longer than a node waits for the probe of its subscription."""
    store.pause()
    await asyncio.sleep(3)
    store.resume()


async def under_fault(bots: RacingBots, faults: list[Fault], chance: Random) -> tuple[int, int]:
    """Inject each fault in mid-race, and audit every race; return the numbers of races and of moves."""
    for fault in faults:
        await bots.mid_race()
        await asyncio.sleep(chance.uniform(0, LONGEST_PAUSE))
        await fault()
    await bots.finish()
    async with store_of(bots) as store:
        audited = await bots.audit(store)
    for player in bots.players:
        twice = [race for race in player.notes.announced if player.notes.announced.count(race) > 1]
        assert twice == [], "the end of a race was announced twice"
    return audited


@pytest.mark.parametrize("mortal_store", ["valkey"], indirect=True)
async def test_races_over_several_nodes_go_on_after_faults_between_them(
    mortal_store: StoreServer,
) -> None:
    chance = Random(mortal_store.binary)
    async with racing_at_nodes(mortal_store, ("lady-palk",), pace=120) as (bots, nodes, links):
        faults: list[Fault] = [
            partial(close_event_connections, mortal_store),
            partial(kill, nodes[1]),
            partial(close_event_connections, mortal_store),
            partial(drop_store_connections, links[2]),
            partial(kill, nodes[0]),
        ]
        races, moves = await under_fault(bots, faults, chance)
    assert races
    assert moves


@pytest.mark.long
async def test_races_over_several_nodes_go_on_after_many_faults(mortal_store: StoreServer) -> None:
    chance = Random(f"long {mortal_store.binary}")
    async with racing_at_nodes(mortal_store, ("lady-palk", "canfield"), pace=20) as (
        bots,
        nodes,
        links,
    ):
        kinds: list[Fault] = [
            *(partial(kill, node) for node in nodes),
            *(partial(drop_store_connections, link) for link in links),
            *[partial(close_event_connections, mortal_store)] * NODES,
            partial(hang, mortal_store),
        ]
        faults = [chance.choice(kinds) for _ in range(60)]
        races, moves = await under_fault(bots, faults, chance)
    note(f"several nodes: {len(faults)} faults, {races} races, {moves} acknowledged moves, 0 lost")
