"""The stores' settings for every level of durability: a real store takes them, and a house takes it."""

import pytest

from kit.cluster import running_cluster, until
from kit.deployment import DEPLOY, open_valkey, settings_of
from kit.house import open_house
from kit.stores import binaries, free_port
from saratoga_server.store.process import find_binary

LEVELS = ("fast", "safe", "replicated", "cluster")


def binary_of(kind: str) -> str:
    found = binaries()[kind]
    assert found is not None, "redis-server is not installed, and this run must test against it"
    return found


def test_there_are_settings_for_every_level() -> None:
    names = {path.name for path in (DEPLOY / "valkey").glob("*.conf")}
    assert names == {f"valkey-{level}.conf" for level in LEVELS}


@pytest.mark.parametrize("kind", list(binaries()))
@pytest.mark.parametrize("level", ["fast", "safe"])
async def test_a_house_of_that_level_opens_on_them(kind: str, level: str) -> None:
    with open_valkey(level, binary_of(kind)) as store:
        async with open_house("--redis", store.url, "--durability", level) as house:
            assert (await house.get("/readyz"))[0] == 200


async def test_settings_for_less_are_refused_for_more() -> None:
    with (
        open_valkey("fast", str(find_binary())) as store,
        pytest.raises(AssertionError, match="appendfsync is everysec"),
    ):
        async with open_house("--redis", store.url, "--durability", "safe"):
            pass


async def test_a_replicated_house_opens_on_a_primary_with_its_replica() -> None:
    port = free_port()
    with (
        open_valkey("replicated", str(find_binary()), f"port {port}") as primary,
        open_valkey("replicated", str(find_binary()), f"replicaof 127.0.0.1 {port}") as replica,
    ):
        replica.wait_for("INFO", "replication", says=b"master_link_status:up")
        primary.wait_for("INFO", "replication", says=b"min_slaves_good_slaves:1")
        async with open_house("--redis", primary.url, "--durability", "replicated") as house:
            assert (await house.get("/readyz"))[0] == 200
        replica.kill()
        primary.wait_for("SET", "a", "b", says=b"NOREPLICAS")


async def test_a_replicated_house_opens_on_a_cluster_of_them() -> None:
    with running_cluster(settings=settings_of("cluster")) as cluster:
        async with open_house("--redis", cluster.url, "--durability", "replicated") as house:
            assert (await house.get("/readyz"))[0] == 200
        primary = cluster.primaries()[0]
        cluster.replica_of(primary).kill()
        until(
            lambda: "NOREPLICAS" in primary.ask("FLUSHALL"), f"{primary} takes no writes by itself"
        )
