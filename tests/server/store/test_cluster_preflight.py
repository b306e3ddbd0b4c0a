"""Every node of a cluster is checked, and at the level `replicated` every replica."""

import re
from collections.abc import Iterator

import pytest

from kit.cluster import Cluster, ClusterNode, running_cluster, until
from kit.running_race import move, running_race
from kit.stores import StoreServer, replica_of
from saratoga_server.ports import CommitStatus, StoreRefused, StoreUnavailable
from saratoga_server.store import batcher
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import DUE_KEYS, table_key
from saratoga_server.store.opening import open_store


async def refusal(url: str, durability: Durability = Durability.SAFE) -> str:
    with pytest.raises(StoreRefused) as refused:
        async with open_store(url, durability):
            pass
    return str(refused.value)


async def test_a_node_with_other_settings_is_named(trio: Cluster) -> None:
    odd = trio.nodes[-1]
    odd.do("CONFIG", "SET", "appendfsync", "everysec")
    try:
        text = await refusal(trio.nodes[0].url)
        assert text.startswith(f"127.0.0.1:{odd.port}: ")
        assert "`CONFIG SET appendfsync always`" in text
        async with open_store(trio.url, Durability.FAST):
            pass
    finally:
        odd.do("CONFIG", "SET", "appendfsync", "always")


async def test_a_cluster_without_replicas_is_refused_where_they_are_counted_on(
    trio: Cluster,
) -> None:
    assert "CLUSTER REPLICATE" in await refusal(trio.url, Durability.REPLICATED)


async def test_the_first_address_may_be_that_of_a_dead_node(trio: Cluster) -> None:
    async with open_store(f"redis://127.0.0.1:1,{trio.nodes[1].url}") as store:
        assert len(store.primaries.all()) == 3


async def test_the_password_holds_for_every_node(trio: Cluster) -> None:
    for node in trio.nodes:
        node.do("ACL", "SETUSER", "house", "on", ">hush", "~*", "&*", "+@all")
    try:
        url = f"redis://house:hush@127.0.0.1:{trio.nodes[0].port}"
        async with open_store(url) as store:
            race = await running_race(store)
            [outcome] = await race.commit(move("draw", 0))
            assert outcome.status is CommitStatus.DONE
            for primary in store.primaries.all():
                assert await primary.client.acl_whoami() == "house"
                assert "hush" not in primary.name
    finally:
        for node in trio.nodes:
            node.ask("ACL", "DELUSER", "house")


ENDPOINT = re.compile(r"\r\n([^\r\n]+)\r\n:(\d+)\r\n\$40")
"""Matches a node in a RESP reply: a name, a port, and the node's id of forty characters."""


async def test_nodes_are_reached_by_the_names_they_announce(trio: Cluster) -> None:
    for node in trio.nodes:
        node.do("CONFIG", "SET", "cluster-announce-hostname", "localhost")
        node.do("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
    try:
        for node in trio.nodes:
            node.server.wait_for("CLUSTER", "NODES", says=b",localhost")
        _all_are_called(trio, "localhost")
        async with open_store(trio.url) as store:
            names = {primary.name for primary in store.primaries.all()}
            assert names == {f"localhost:{node.port}" for node in trio.nodes}
            assert len(await store.client.commands([("EXISTS", key) for key in DUE_KEYS])) == 256
    finally:
        for node in trio.nodes:
            node.do("CONFIG", "SET", "cluster-preferred-endpoint-type", "ip")
            node.do("CONFIG", "SET", "cluster-announce-hostname", "")
        _all_are_called(trio, "127.0.0.1")


def _all_are_called(cluster: Cluster, name: str) -> None:
    def told(node: ClusterNode) -> bool:
        # a node gets the command once for each range of slots, and other tests move slots
        return set(ENDPOINT.findall(node.ask("CLUSTER", "SLOTS"))) == wanted

    wanted = {(name, str(node.port)) for node in cluster.nodes}

    until(lambda: all(map(told, cluster.nodes)), f"all are called {name}")


async def test_a_primary_that_comes_back_unfit_gets_no_more_moves(
    trio: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_store(trio.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        owner = trio.owner(table_key("mint-otter-42"))
        owner.do("CONFIG", "SET", "appendfsync", "everysec")
        try:
            monkeypatch.setattr(batcher, "STORE_TIMEOUT", 0.3)
            assert owner.ask("CLIENT", "KILL", "TYPE", "normal").startswith(":")
            with pytest.raises(StoreUnavailable, match="CONFIG SET appendfsync always"):
                await race.commit(move("w>t1", 1))
        finally:
            owner.do("CONFIG", "SET", "appendfsync", "always")
        monkeypatch.undo()
        [outcome] = await race.commit(move("w>t1", 1))
        assert outcome.status is CommitStatus.DONE


@pytest.fixture(scope="module")
def with_replicas() -> Iterator[Cluster]:
    with running_cluster() as cluster:
        yield cluster


async def test_a_replica_with_other_settings_is_named_before_it_is_a_primary(
    with_replicas: Cluster,
) -> None:
    odd = with_replicas.replica_of(with_replicas.primaries()[0])
    odd.do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    try:
        assert f"127.0.0.1:{odd.port}" in await refusal(with_replicas.url)
    finally:
        odd.do("CONFIG", "SET", "maxmemory-policy", "noeviction")


async def test_one_unavailable_replica_does_not_keep_a_store_from_opening(
    with_replicas: Cluster,
) -> None:
    gone = with_replicas.replica_of(with_replicas.primaries()[0])
    gone.kill()
    try:
        async with open_store(with_replicas.url, Durability.REPLICATED) as store:
            assert await store.tables.now() > 0
    finally:
        gone.restart()
        with_replicas.wait_until_in_step()


async def test_a_replica_that_keeps_no_file_is_not_asked_for_its_disk(
    mortal_store: StoreServer, caplog: pytest.LogCaptureFixture
) -> None:
    with replica_of(mortal_store, {"appendonly": "no"}):
        async with open_store(mortal_store.url, Durability.REPLICATED) as store:
            race = await running_race(store)
            [outcome] = await race.commit(move("draw", 0))
            assert outcome.status is CommitStatus.DONE
    knows = mortal_store.ask("WAITAOF", "0", "0", "1").startswith(b"*")
    assert ("replica_not_on_disk" in caplog.text) == knows
