"""Make nodes: one that serves players, and one through which administrators change tables."""

import secrets
from typing import Any

from saratoga_server.live.tables import Tables
from saratoga_server.metrics import Metrics
from saratoga_server.node import Node
from saratoga_server.store.opening import Store


async def compose_table_cache(store: Store) -> Tables:
    """Return the tables for an administrator's process: without players and events."""
    node = Node(store, "admin", Metrics())
    await node.clock.synchronise()
    return node.tables


async def compose(store: Store, node: str, program: str, metrics: Metrics, **options: Any) -> Node:
    """Return a new node on this store, with the store's time; `options` as those of `Node`."""
    made = Node(store, f"{node}.{secrets.token_hex(3)}", metrics, program=program, **options)
    await made.clock.synchronise()
    await store.nodes.beat(made.name)
    return made
