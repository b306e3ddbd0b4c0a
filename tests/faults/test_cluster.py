"""A cluster whose primaries die, hand over and change places: nothing acknowledged lost or doubled."""

import asyncio
from collections.abc import Iterator

import pytest

from kit.cluster import Cluster, running_cluster
from saratoga_server.store.connection import open_store
from saratoga_server.store.durability import Durability


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    """Three primaries and a replica each, empty and in step."""
    shared_cluster.wait_until_in_step()
    shared_cluster.empty()
    return shared_cluster


async def test_any_node_will_do_to_come_in(cluster: Cluster) -> None:
    replica = cluster.replica_of(cluster.primaries()[0])
    async with open_store(replica.url, Durability.REPLICATED) as store:
        await store.tables.set_public("mint-otter-42", b"summary")
        assert await store.tables.list_public() == [b"summary"]
        assert len(store.primaries.all()) == 3


async def test_the_map_is_read_again_after_a_failover(cluster: Cluster) -> None:
    async with open_store(cluster.url) as store:
        changed = asyncio.Event()
        store.primaries.on_change(changed.set)
        old = cluster.primaries()[0]
        heir = await asyncio.to_thread(cluster.fail_over, old)
        await asyncio.wait_for(changed.wait(), 10)
        names = [primary.name for primary in store.primaries.all()]
        assert f"127.0.0.1:{heir.port}" in names
        assert f"127.0.0.1:{old.port}" not in names
