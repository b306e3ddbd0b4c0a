"""The health of a store: running, killed, hanging, unable to write."""

from kit.stores import StoreServer
from saratoga_server.store.clients import primary_at
from saratoga_server.store.health import health_of, read_health


async def test_a_running_store_reports_its_figures(store_server: StoreServer) -> None:
    primary = primary_at(store_server.url)
    health = await read_health(primary)
    await primary.client.aclose(close_connection_pool=True)
    assert (health.is_up, health.is_appending, health.replicas) == (True, True, 0)
    assert health.primary == primary.name
    assert health.memory > 100_000
    assert health.memory_limit == 0


async def test_a_killed_store_is_reported_as_down_without_an_error(
    mortal_store: StoreServer,
) -> None:
    primary = primary_at(mortal_store.url)
    mortal_store.kill()
    health = await read_health(primary)
    await primary.client.aclose(close_connection_pool=True)
    assert (health.is_up, health.is_appending, health.memory) == (False, False, 0)


async def test_a_hanging_store_is_reported_as_down_in_time(mortal_store: StoreServer) -> None:
    primary = primary_at(mortal_store.url)
    mortal_store.pause()
    health = await read_health(primary)
    mortal_store.resume()
    await primary.client.aclose(close_connection_pool=True)
    assert not health.is_up


def test_only_replicas_that_are_online_and_confirmed_lately_are_in_step() -> None:
    replicas = {
        "slave0": {"state": "online", "lag": 1},
        "slave1": {"state": "online", "lag": 9},
        "slave2": {"state": "wait_bgsave", "lag": 0},
        "slave_read_only": 1,
    }
    assert health_of("a:1", {**replicas, "connected_slaves": 3}).replicas == 1


def test_a_write_that_did_not_reach_the_file_is_seen() -> None:
    assert not health_of("a:1", {"aof_last_write_status": "err"}).is_appending
    assert health_of("a:1", {"aof_last_write_status": "ok"}).is_appending


async def test_the_name_of_a_store_contains_no_password() -> None:
    assert primary_at("redis://user:secret@localhost:1/0?password=secret").name == "localhost:1/0"
