"""Putting the house together: on any store, with any deal."""

from kit.fake_store import FakeHouse, fake_store
from kit.rooms import InventedTime, always, open_in_memory
from kit.tables import NOON
from saratoga_server.composition import compose
from saratoga_server.metrics.counters import Metrics
from saratoga_server.store.opening import Store


async def test_a_house_opens_on_a_real_store_by_the_stores_time(valkey: Store) -> None:
    house = await compose(valkey, "node-1", "test", Metrics())
    assert abs(house.now() - await valkey.tables.now()) < 1000
    assert await house.why_not_ready() is None
    assert await valkey.nodes.dead([house.node, "another"]) == {"another"}
    await house.stop()
    assert await valkey.nodes.dead([house.node]) == {house.node}


async def test_no_two_processes_have_the_same_name() -> None:
    time = InventedTime()
    store = fake_store(FakeHouse(clock=time.millis))
    one, two = await open_in_memory(store, time), await open_in_memory(store, time)
    assert one.node != two.node
    assert one.node.startswith("node.")
    assert store.house.nodes == {one.node, two.node}
    for each in (one, two):
        await each.stop()
    assert store.house.nodes == set()


async def test_a_house_can_be_given_its_deal_its_seeds_and_its_time() -> None:
    time = InventedTime()
    store = fake_store(FakeHouse(clock=time.millis))
    text = "stock=2C waste=- reserve=- up=3,0,0,0 down=- columns=2D/9H/TH/KC base=1 passes=1"
    house = await open_in_memory(store, time, always(text))
    assert house.now() == NOON
    time.at += 12_345
    assert house.now() == NOON + 12_345
    await house.stop()
