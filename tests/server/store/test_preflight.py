"""Unsuitable stores are refused, with the reason and the command that fixes it."""

from collections.abc import Iterator

import pytest

from kit.running_race import move, running_race
from kit.stores import StoreServer, replica_of
from saratoga_server.ports import CommitStatus, StoreRefused, StoreUnavailable
from saratoga_server.store import opening
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store
from saratoga_server.store.preflight import Preflight, check_server


async def refusal(
    url: str, durability: Durability = Durability.SAFE, *, trust_store: bool = False
) -> str:
    with pytest.raises(StoreRefused) as refused:
        async with open_store(url, durability, trust_store=trust_store):
            pass
    return str(refused.value)


@pytest.fixture
def changed_back(store_server: StoreServer) -> Iterator[StoreServer]:
    """A shared store whose settings a test may change; they are restored afterwards."""
    yield store_server
    for name, value in (
        ("maxmemory-policy", "noeviction"),
        ("appendonly", "yes"),
        ("appendfsync", "always"),
        ("no-appendfsync-on-rewrite", "no"),
        ("requirepass", ""),
    ):
        store_server.ask("CONFIG", "SET", name, value)


@pytest.mark.parametrize(
    ("setting", "wrong", "right"),
    [
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("maxmemory-policy", "volatile-ttl", "noeviction"),
        ("appendonly", "no", "yes"),
        ("appendfsync", "everysec", "always"),
        ("appendfsync", "no", "always"),
        ("no-appendfsync-on-rewrite", "yes", "no"),
    ],
)
async def test_each_wrong_setting_is_named_with_the_command_that_fixes_it(
    changed_back: StoreServer, setting: str, wrong: str, right: str
) -> None:
    changed_back.ask("CONFIG", "SET", setting, wrong)
    assert f"`CONFIG SET {setting} {right}`" in await refusal(changed_back.url)
    assert changed_back.ask("CONFIG", "SET", setting, right) == b"+OK"
    async with open_store(changed_back.url):
        pass


async def test_all_wrong_settings_are_reported_at_once(changed_back: StoreServer) -> None:
    changed_back.ask("CONFIG", "SET", "appendonly", "no")
    changed_back.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
    text = await refusal(changed_back.url)
    assert "CONFIG SET appendonly yes" in text
    assert "CONFIG SET maxmemory-policy noeviction" in text


async def test_the_level_fast_requires_less(changed_back: StoreServer) -> None:
    changed_back.ask("CONFIG", "SET", "appendfsync", "everysec")
    changed_back.ask("CONFIG", "SET", "no-appendfsync-on-rewrite", "yes")
    async with open_store(changed_back.url, Durability.FAST):
        pass
    changed_back.ask("CONFIG", "SET", "appendfsync", "no")
    assert "`CONFIG SET appendfsync everysec`" in await refusal(changed_back.url, Durability.FAST)


async def test_a_store_that_hides_its_settings_needs_trust_store(
    store_server: StoreServer,
) -> None:
    rules = ("on", ">word", "~*", "&*", "+@all", "-config")
    assert store_server.ask("ACL", "SETUSER", "managed", *rules) == b"+OK"
    url = f"{store_server.url}?username=managed&password=word"
    assert "--trust-store" in await refusal(url)
    async with open_store(url, trust_store=True) as store:
        assert await store.tables.now() > 0


async def test_a_wrong_password_is_refused_at_once(changed_back: StoreServer) -> None:
    changed_back.ask("CONFIG", "SET", "requirepass", "word")
    try:
        assert "refuses the login" in await refusal(changed_back.url)
        assert "refuses the login" in await refusal(f"{changed_back.url}?password=other")
        async with open_store(f"{changed_back.url}?password=word") as store:
            assert await store.tables.now() > 0
            await store.client.command("CONFIG", "SET", "requirepass", "")
    finally:
        changed_back.ask("AUTH", "word")


async def test_a_cluster_is_refused(mortal_store: StoreServer) -> None:
    mortal_store.kill()
    mortal_store.settings |= {"cluster-enabled": "yes", "port": "0"}
    mortal_store.start()
    assert await refusal(mortal_store.url) == (
        "This store is a Redis or Valkey Cluster, which is not supported: give --redis the address of "
        "one store with `cluster-enabled no`, which may have replicas."
    )


async def test_a_replica_is_refused_with_the_primarys_address(mortal_store: StoreServer) -> None:
    mortal_store.ask("REPLICAOF", "127.0.0.1", "1")
    assert "127.0.0.1:1" in await refusal(mortal_store.url)


@pytest.mark.parametrize("version", ["6.2.14", "5.0.3", "0"])
def test_an_old_store_is_refused(version: str) -> None:
    with pytest.raises(StoreRefused, match="too old"):
        check_server({"cluster_enabled": 0}, Preflight("Redis", version))


async def test_an_address_without_a_store_is_unavailable(
    store_server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "STORE_TIMEOUT", 0.2)
    with pytest.raises(StoreUnavailable):
        async with open_store(f"unix://{store_server.folder}/nobody"):
            pass


async def test_a_store_without_a_replica_is_refused(store_server: StoreServer) -> None:
    assert "no replica in sync" in await refusal(store_server.url, Durability.REPLICATED)


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
