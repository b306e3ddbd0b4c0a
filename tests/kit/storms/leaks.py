"""Find leaks after a storm: nodes and store must hold no more than before the first player."""

import asyncio
import time
from collections.abc import Callable

from redis import Redis

from kit.storms.footprints import (
    clients_of,
    keys_left_over,
    nodes_known,
    subscribed_connections_of,
    subscribers_of,
)
from kit.storms.installation import Installation

GONE_WITHIN = 30.0
"""Longest time in seconds until closed connections are noticed; dead nodes stay listed for six."""

SPARE_TASKS = 4
"""The number of additional tasks that may run at any moment; a leak would exceed it."""

BACKGROUND_TASKS = 8
"""The number of a node's background tasks that may call the store at once."""

FOR_COMMITS = FOR_EVENTS = 1
"""The number of connections of each kind from one node to the store, outside the node's pool."""


async def leaks_of(installation: Installation) -> list[str]:
    """Disconnect all players; describe the resources that nodes and store fail to release."""
    for player in installation.players:
        await player.connection.close()
        player.link.cut_half_open()
    for node in installation.nodes:
        node.link.cut_half_open()
    return await asyncio.to_thread(_settled, installation)


def _settled(installation: Installation) -> list[str]:
    with Redis(unix_socket_path=str(installation.store.socket)) as store:
        return [*_until_nothing(lambda: held(installation, store)), *keys_left_over(store)]


def _until_nothing(look: Callable[[], list[str]]) -> list[str]:
    deadline = time.monotonic() + GONE_WITHIN
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def held(installation: Installation, store: Redis) -> list[str]:
    """Describe what nodes and stores hold beyond what they held before the first player."""
    found = []
    most_files = max(each.files for each in installation.baseline)
    most_tasks = max(each.tasks for each in installation.baseline)
    most_sockets = max(each.sockets for each in installation.baseline) + pool_of(installation)
    for node in installation.nodes:
        now = node.footprint()
        if now.players:
            found.append(f"node {node.port} has {now.players} connections after all players left")
        if now.files > most_files:
            found.append(
                f"node {node.port} has {now.files} files open, at most {most_files} before"
            )
        if now.tasks > most_tasks + SPARE_TASKS:
            found.append(f"node {node.port} has {now.tasks} tasks, {most_tasks} before")
        if now.sockets > most_sockets:
            found.append(f"node {node.port} has {now.sockets} sockets, at most {most_sockets}")
        if node.link.open_connections > now.sockets:
            found.append(f"node {node.port} has fewer sockets than connections to the store")
    found += _held_by(store, installation)
    if (living := nodes_known(store)) != len(installation.nodes):
        found.append(f"the store lists {living} nodes, and {len(installation.nodes)} run")
    return found


def pool_of(installation: Installation) -> int:
    """Return the largest number of pooled store connections that a node can need at once.

    This is far below the pool's own limit, so that a leak of a few connections is found.
    """
    return len(installation.players) + BACKGROUND_TASKS


def _held_by(store: Redis, installation: Installation) -> list[str]:
    found = []
    clients, nodes = clients_of(store), len(installation.nodes)
    most = nodes * (pool_of(installation) + FOR_COMMITS + FOR_EVENTS)
    if clients > most:
        found.append(f"the store has {clients} clients, at most {most}")
    if (subscribed := subscribed_connections_of(store)) != nodes * FOR_EVENTS:
        found.append(f"the store has {subscribed} subscribed clients, of {nodes} nodes")
    connections = sum(node.link.open_connections for node in installation.nodes)
    if clients != connections:
        found.append(f"the store has {clients} clients, the nodes {connections} connections")
    if wrong := [number for number in subscribers_of(store) if number != nodes]:
        found.append(f"channels have {wrong} subscribers, of {nodes} nodes")
    return found
