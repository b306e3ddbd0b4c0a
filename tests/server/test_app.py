"""The composition root: composing a node."""

from kit.in_process_server import always, compose_node
from kit.stepped_store import stepped_store
from kit.tables import NOON
from saratoga_server.app import compose
from saratoga_server.metrics.counters import Metrics
from saratoga_server.store.opening import Store


async def test_a_server_on_a_real_store_goes_by_the_stores_clock(valkey: Store) -> None:
    node = await compose(valkey, "node-1", "test", Metrics())
    assert abs(node.clock.now() - await valkey.tables.now()) < 1000
    assert await node.why_not_ready() is None
    assert await valkey.nodes.dead([node.name, "another"]) == {"another"}
    await node.stop()
    assert await valkey.nodes.dead([node.name]) == {node.name}


async def test_two_processes_of_one_node_name_have_different_names() -> None:
    async with stepped_store() as store:
        one, two = [await compose_node(store, store.time) for _ in range(2)]
        assert one.name != two.name
        assert one.name.startswith("node.")
        assert await store.nodes.dead([one.name, two.name]) == set()
        for each in (one, two):
            await each.stop()
        assert await store.nodes.dead([one.name, two.name]) == {one.name, two.name}


async def test_deal_and_clock_can_be_given() -> None:
    text = "stock=2C waste=- reserve=- up=3,0,0,0 down=- columns=2D/9H/TH/KC base=1 passes=1"
    async with stepped_store() as store:
        node = await compose_node(store, store.time, always(text))
        assert node.clock.now() == NOON
        store.time.at += 12_345
        assert node.clock.now() == NOON + 12_345
        await node.stop()
