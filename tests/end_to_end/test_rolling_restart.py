"""All nodes are restarted in mid-race, one after the other: nothing is lost, and nobody waits long."""

import asyncio
import os
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

import msgpack
import pytest

from kit.balancer import balancer
from kit.catastrophes import Party, party_at, store_of
from kit.figures import note
from kit.house import House, open_house
from kit.nodes import nodes_on
from kit.other_version import moods_lost
from kit.recorded_players import Notes
from kit.stores import StoreServer

PACE = 30.0
"""Moves a second."""
MANY = ("lady-palk", "caprice")
"""A table for each of these games."""
NEWER = "kit.other_version"
WITHIN = 60.0
"""Seconds: a bound for what is awaited, never a measure."""
LONGEST_PAUSE = 2.0
"""Seconds that a player may see."""


def pauses(notes: Notes) -> Iterator[float]:
    """Seconds between the last answer before each change of nodes and the first after it, beyond the pace."""
    for before, after in pairwise(notes.acknowledged):
        changed = any(before.moment < at <= after.moment for at in notes.connected[1:])
        if changed and before.race == after.race:
            yield max(0.0, after.moment - before.moment - 1 / PACE)


def told(guests: Party, what: str, moves: int) -> list[float]:
    """Note how long everybody's pauses were."""
    all_pauses = [each for player in guests.players for each in pauses(player.notes)]
    assert all_pauses, "nobody had to change nodes in mid-race"
    note(
        f"{what}: {len(all_pauses)} pauses, in median {median(all_pauses):.2f} s, at most "
        f"{max(all_pauses):.2f} s; {moves} acknowledged moves, 0 lost, 0 played twice"
    )
    return all_pauses


async def logged(house: House, event: str, times: int) -> None:
    async with asyncio.timeout(WITHIN):
        while sum(each["event"] == event for each in house.events()) < times:
            await asyncio.to_thread(os.stat, house.log)


async def restarted(nodes: Sequence[House], guests: Party, module: str = "") -> None:
    """Restart one after the other, each in mid-race; `module` is the program from then on."""
    for node in nodes:
        await guests.mid_race()
        assert await node.stop() == 0
        node.module = module or node.module
        await node.start()


async def replaced(house: House, guests: Party, times: int) -> None:
    await guests.mid_race()
    assert house.process is not None
    house.process.send_signal(signal.SIGHUP)
    await logged(house, "workers_replaced", times)


async def rolled_behind_a_balancer(
    store: StoreServer, times: int, games: tuple[str, ...]
) -> list[float]:
    store.empty()
    async with (
        nodes_on(store.url, 3) as nodes,
        balancer([node.port for node in nodes]) as front,
        party_at(front.url, games, PACE, nodes[0], store) as guests,
    ):
        for _ in range(times):
            await restarted(nodes, guests)
        await guests.finish()
        async with store_of(guests) as opened:
            _, moves = await guests.audit(opened)
        return told(guests, f"rolling restart of 3 nodes, {times} times", moves)


async def rolled_by_hanging_up(times: int, games: tuple[str, ...]) -> list[float]:
    async with (
        open_house("--workers", "3", "--rate", "0") as house,
        party_at(house.url, games, PACE, house, None) as guests,
    ):
        for number in range(1, times + 1):
            await replaced(house, guests, number)
        await guests.finish()
        async with store_of(guests) as opened:
            _, moves = await guests.audit(opened)
        return told(guests, f"3 workers replaced, {times} times", moves)


async def test_an_upgrade_of_all_nodes_and_the_way_back_of_one_lose_nothing(
    store_servers: dict[str, StoreServer],
) -> None:
    store = store_servers["valkey"]
    store.empty()
    async with (
        nodes_on(store.url, 3) as nodes,
        balancer([node.port for node in nodes]) as front,
        party_at(front.url, ("lady-palk",), PACE, nodes[0], store) as guests,
    ):
        older = nodes[0].module
        await restarted(nodes, guests, NEWER)
        await restarted(nodes[:1], guests, older)
        await guests.finish()
        async with store_of(guests) as opened:
            _, moves = await guests.audit(opened)
            kept = await opened.tables.load_table(guests.tables[0][0].notes.code)
        # what the newer ones have added is there, whoever wrote last
        assert kept is not None
        assert moods_lost(msgpack.unpackb(kept[1])) == []
        told(guests, "3 nodes upgraded, one taken back", moves)


async def test_workers_are_replaced_in_mid_race() -> None:
    await rolled_by_hanging_up(1, ("lady-palk",))


@pytest.mark.long
async def test_no_player_waits_long_however_often_nodes_are_restarted(
    store_servers: dict[str, StoreServer],
) -> None:
    behind_balancer = await rolled_behind_a_balancer(store_servers["valkey"], 5, MANY)
    by_hanging_up = await rolled_by_hanging_up(5, MANY)
    assert max(*behind_balancer, *by_hanging_up) <= LONGEST_PAUSE
