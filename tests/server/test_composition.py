"""A node composed on any store, with any deal."""

from kit.fake_store import FakeHouse, fake_store
from kit.rooms import HouseInMemory, InventedTime, always, house_in_memory, open_in_memory
from kit.tables import NOON
from saratoga_protocol.commands import GetLeaderboard
from saratoga_server.composition import compose, compose_table_cache
from saratoga_server.domain.tables import Change, TableState, close
from saratoga_server.metrics.counters import Metrics
from saratoga_server.ports import Millis
from saratoga_server.store.connection import Store


async def test_a_node_on_a_real_store_goes_by_the_stores_time(valkey: Store) -> None:
    node = await compose(valkey, "node-1", "test", Metrics())
    assert abs(node.clock.now() - await valkey.tables.now()) < 1000
    assert await node.why_not_ready() is None
    assert await valkey.nodes.dead([node.name, "another"]) == {"another"}
    await node.stop()
    assert await valkey.nodes.dead([node.name]) == {node.name}


async def test_no_two_processes_have_the_same_name() -> None:
    time = InventedTime()
    store = fake_store(FakeHouse(clock=time.millis))
    one, two = await open_in_memory(store, time), await open_in_memory(store, time)
    assert one.name != two.name
    assert one.name.startswith("node.")
    assert store.house.nodes == {one.name, two.name}
    for each in (one, two):
        await each.stop()
    assert store.house.nodes == set()


async def test_a_node_can_be_given_its_deal_and_its_time() -> None:
    text = "stock=2C waste=- reserve=- up=3,0,0,0 down=- columns=2D/9H/TH/KC base=1 passes=1"
    async with house_in_memory(always(text)) as rooms:
        assert rooms.house.clock.now() == NOON
        rooms.time.at += 12_345
        assert rooms.house.clock.now() == NOON + 12_345
        anna = await rooms.guest("Anna")
        await rooms.race(anna)
        assert anna.board.view.stock == 1


async def test_the_http_pages_are_served_from_the_same_leaderboards_and_records(
    rooms: HouseInMemory,
) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna, cap=10)
    await anna.cash_out()
    await rooms.pass_time(1000)
    query = GetLeaderboard(id=0, game="canfield", period="all")
    page = await rooms.house.leaderboard(query)
    assert (page.total, page.me) == (0, None)
    assert (await rooms.house.record(f"{code}/1")).startswith("saratoga")


async def test_an_administrators_cache_changes_tables_without_a_node(rooms: HouseInMemory) -> None:
    anna = await rooms.guest("Anna")
    code = await rooms.race(anna)
    nodes = set(rooms.fake.nodes)
    table_cache = await compose_table_cache(rooms.store)

    def closed(state: TableState, now: Millis) -> Change:
        return close(state, "Enough.", now=now)

    applied = await table_cache.change(code, closed)
    assert applied.table.state.phase == "closed"
    assert applied.table.state.touched == rooms.time.at
    assert rooms.fake.nodes == nodes
