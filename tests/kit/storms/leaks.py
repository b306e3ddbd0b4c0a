"""After a storm, when everybody has gone: nothing may be left but what was there before they came."""

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack

from redis import Redis

from kit.storms.footprints import (
    clients_of,
    keys_left_over,
    listeners_of,
    nodes_known,
    subscribers_of,
)
from kit.storms.town import Town

GONE_WITHIN = 30.0
"""Seconds for nodes and stores to notice who has gone; a dead node counts as living for six."""

SPARE_TASKS = 4
"""A task or two are always just under way; what leaks, leaks with every fault."""

DUTIES = 8
"""Things that a node does by itself and that may ask one store process at once: timers, looks, probes."""

FOR_MOVES = FOR_NEWS = 1
"""Connections of one node to one store process beside its pool."""


async def left_over(town: Town) -> list[str]:
    """Send everybody home; what should be gone after that and is not."""
    for guest in town.guests:
        await guest.player.house.close()
        guest.link.cut_half_open()
    for node in town.nodes:
        if node.link is not None:
            node.link.cut_half_open()
    return await asyncio.to_thread(_settled, town)


def _settled(town: Town) -> list[str]:
    with ExitStack() as stack:
        stores = [stack.enter_context(store) for store in _stores(town)]
        found = _until_nothing(lambda: held(town, stores))
        for store in stores:
            found += keys_left_over(store)
    return found


def _until_nothing(look: Callable[[], list[str]]) -> list[str]:
    deadline = time.monotonic() + GONE_WITHIN
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def _stores(town: Town) -> list[Redis]:
    if town.cluster is not None:
        return [Redis(host="127.0.0.1", port=node.port) for node in town.cluster.primaries()]
    assert town.standalone is not None
    return [Redis(unix_socket_path=str(town.standalone.socket))]


def held(town: Town, stores: list[Redis]) -> list[str]:
    """What nodes and stores hold at this moment, and did not when nobody had come yet."""
    found = []
    most_files = max(each.files for each in town.before)
    most_tasks = max(each.tasks for each in town.before)
    # everything else is as it was
    most_sockets = max(each.sockets for each in town.before) + pool_of(town) * len(stores)
    for node in town.nodes:
        now = node.footprint()
        if now.players:
            found.append(f"node {node.port} has {now.players} connections, and nobody is there")
        if now.files > most_files:
            found.append(f"node {node.port} has {now.files} files open, once {most_files}")
        if now.tasks > most_tasks + SPARE_TASKS:
            found.append(f"node {node.port} has {now.tasks} tasks, once {most_tasks}")
        if now.sockets > most_sockets:
            found.append(f"node {node.port} has {now.sockets} sockets, at most {most_sockets}")
        if node.link is not None and node.link.open_connections > now.sockets:
            found.append(f"node {node.port} has lost count of its connections to the store")
    for store in stores:
        found += _held_by(store, town)
    if (living := sum(map(nodes_known, stores))) != len(town.nodes):
        found.append(f"{living} nodes count as living, of {len(town.nodes)}")
    return found


def pool_of(town: Town) -> int:
    """Connections that a node may have wanted at once: a pool keeps those that it has made.

    Far fewer than the pool's own bound, so that a connection lost with every so many faults is found.
    """
    return len(town.guests) + DUTIES


def _held_by(store: Redis, town: Town) -> list[str]:
    found = []
    clients, nodes = clients_of(store), len(town.nodes)
    most = nodes * (pool_of(town) + FOR_MOVES + FOR_NEWS)
    if clients > most:
        found.append(f"the store has {clients} clients, at most {most}")
    if (listeners := listeners_of(store)) != nodes * FOR_NEWS:
        found.append(f"{listeners} clients listen to the store, of {nodes} nodes")
    ways = [node.link.open_connections for node in town.nodes if node.link is not None]
    if ways and clients != sum(ways):
        found.append(f"the store has {clients} clients, the nodes {sum(ways)} connections")
    if wrong := [number for number in subscribers_of(store) if number != nodes]:
        found.append(f"channels have {wrong} subscribers, of {nodes} nodes")
    return found
