"""The primaries of a store and the keys that they own."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from kit.cluster import Cluster
from kit.movers import TABLES
from kit.stores import StoreServer
from saratoga_server.ports import Millis, TableWrite
from saratoga_server.store.keys import DUE_KEYS, due_key, partition, table_key
from saratoga_server.store.opening import open_store
from saratoga_server.store.primaries import Primaries, open_primaries
from saratoga_server.store.slots import slot_of


@pytest.fixture
async def primaries(trio: Cluster) -> AsyncIterator[Primaries]:
    opened = await open_primaries(trio.nodes[0].url, is_cluster=True)
    try:
        yield opened
    finally:
        await opened.close()


async def test_a_store_by_itself_owns_every_key(store_server: StoreServer) -> None:
    primaries = await open_primaries(store_server.url)
    try:
        [only] = primaries.all()
        assert primaries.of("{p1}:due") is primaries.of("{p2}:due") is only
        assert await only.client.ping()
    finally:
        await primaries.close()


async def test_a_primarys_name_contains_no_password() -> None:
    primaries = await open_primaries("redis://user:secret@localhost:1/0?password=secret")
    assert [primary.name for primary in primaries.all()] == ["localhost:1/0"]
    await primaries.close()


async def test_one_node_knows_all_of_a_cluster(trio: Cluster, primaries: Primaries) -> None:
    assert primaries.is_whole
    assert {each.name for each in primaries.all()} == {
        f"127.0.0.1:{node.port}" for node in trio.nodes
    }
    for key in DUE_KEYS[:12]:
        assert primaries.of(key).name == f"127.0.0.1:{trio.owner(key).port}"


async def test_a_slot_that_moved_raises_the_revision(trio: Cluster, primaries: Primaries) -> None:
    before, revision = primaries.all(), primaries.revision
    change = asyncio.ensure_future(primaries.changed_since(revision))
    await primaries.refresh()
    assert not change.done()
    key, (source, target, _) = DUE_KEYS[7], trio.nodes
    if trio.owner(key) is not source:
        source, target = trio.owner(key), source
    trio.move_slot(slot_of(key), source, target)
    try:
        while not change.done():
            await primaries.refresh()
        assert primaries.revision == revision + 1
        await primaries.changed_since(revision)
        assert primaries.of(key).name == f"127.0.0.1:{target.port}"
        assert primaries.all() == before
    finally:
        trio.move_slot(slot_of(key), target, source)


async def test_the_map_is_read_past_a_node_that_hangs(trio: Cluster, primaries: Primaries) -> None:
    trio.nodes[0].pause()
    try:
        await primaries.refresh()
        assert len(primaries.all()) == 3
    finally:
        trio.nodes[0].resume()


async def test_concurrent_refreshes_share_one_reading(trio: Cluster, primaries: Primaries) -> None:
    def readings() -> int:
        [line] = [
            line
            for line in trio.nodes[0].ask("INFO", "commandstats").splitlines()
            if line.startswith("cmdstat_cluster|slots:calls=")
        ]
        return int(line.partition("=")[2].partition(",")[0])

    before = readings()
    await asyncio.gather(*(primaries.refresh() for _ in range(50)))
    assert readings() - before <= 2  # our caller, and the refresh that continues by itself


async def test_the_other_primaries_timers_are_due_while_one_is_unavailable(trio: Cluster) -> None:
    async with open_store(trio.url) as store:
        for code in TABLES:
            await store.tables.save_table(
                TableWrite(code=code, expected=0, body=b"x", due=Millis(1))
            )
        gone = trio.nodes[2]
        lost = {code for code in TABLES if trio.owner(due_key(partition(code))) is gone}
        assert lost
        gone.kill()
        try:
            assert set(await store.tables.due(Millis(2), 100)) == set(TABLES) - lost
        finally:
            gone.restart()
            trio.wait_until_served()
        assert set(await store.tables.due(Millis(2), 100)) == set(TABLES)
        assert await store.tables.load_table(min(lost)) == (1, b"x")
        assert trio.owner(table_key(min(lost))) is gone
