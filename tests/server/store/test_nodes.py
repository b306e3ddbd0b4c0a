"""Heartbeats of nodes, on every kind of store."""

from kit.running_race import AnyStore
from saratoga_server.store.nodes import ALIVE_FOR
from saratoga_server.store.opening import Store


async def test_a_node_is_alive_from_its_first_beat_until_it_reports_that_it_stopped(
    store: AnyStore,
) -> None:
    assert await store.nodes.dead(["east", "west"]) == {"east", "west"}
    await store.nodes.beat("east")
    await store.nodes.beat("east")
    assert await store.nodes.dead(["east", "west", "west"]) == {"west"}
    await store.nodes.gone("east")
    await store.nodes.gone("never-there")
    assert await store.nodes.dead(["east"]) == {"east"}


async def test_without_nodes_no_node_is_dead(store: AnyStore) -> None:
    assert await store.nodes.dead([]) == frozenset()


async def test_a_beat_expires(store: AnyStore) -> None:
    await store.nodes.beat("east")
    if isinstance(store, Store):  # the store in memory has no clock of its own
        assert 0 < await store.client.command("PTTL", "node:east") <= ALIVE_FOR
