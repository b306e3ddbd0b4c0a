"""The ledger of a store, as several nodes raise it."""

from kit.stores import StoreServer
from saratoga_server.store.clients import primary_at
from saratoga_server.store.keys import LEDGER
from saratoga_server.store.ledger import Ledger, LedgerEntry, ProcessMemory


async def test_every_node_raises_the_same_sequence_and_keeps_the_generation(
    store_server: StoreServer,
) -> None:
    primary = primary_at(store_server.url)
    nodes = [Ledger(primary, ProcessMemory(), replicated=False, on_disk=False) for _ in range(2)]
    try:
        for node in (nodes[0], nodes[1], nodes[1]):
            _, found = await node.read()
            await node.raise_(found)
        one, other = (node.memory.recall() for node in nodes)
        assert one is not None
        assert one.generation
        assert other == LedgerEntry(one.generation, 3)
        assert not nodes[1].has_lost(other)
        assert nodes[1].has_lost(one)
    finally:
        await primary.client.aclose(close_connection_pool=True)


async def test_a_ledger_that_was_replaced_after_it_was_read_is_not_remembered(
    store_server: StoreServer,
) -> None:
    primary = primary_at(store_server.url)
    node = Ledger(primary, ProcessMemory(), replicated=False, on_disk=False)
    try:
        await node.raise_(LedgerEntry())
        known = node.memory.recall()
        _, found = await node.read()
        await primary.client.hset(LEDGER, "generation", "another")
        await node.raise_(found)
        assert node.memory.recall() == known
    finally:
        await primary.client.aclose(close_connection_pool=True)
