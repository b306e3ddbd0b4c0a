"""The check of a store: before it is used, while it is used, and its health."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time

import pytest

from kit.stores import StoreServer
from kit.tables import CODE, move, running_race
from saratoga_server.ports import (
    STORE_FORMAT,
    CommitStatus,
    Durability,
    LedgerEntry,
    LedgerMemory,
    Millis,
    StoreRefused,
    StoreUnavailable,
)
from saratoga_server.store import client, commits, guard
from saratoga_server.store.guard import StoreGuard
from saratoga_server.store.keys import LEDGER as KEY
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.preflight import check_server

# The store guard: a store that changes while a server uses it gets no commits and answers no reads


@pytest.fixture(autouse=True)
def checked_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the guard check the store only when a test or a new connection asks."""
    monkeypatch.setattr(guard, "CHECK_EVERY", 3_600.0)


@contextmanager
def short_timeout() -> Iterator[None]:
    """Shorten the timeout, so that commits and calls are given up soon."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (commits, client):
            patch.setattr(module, "STORE_TIMEOUT", 0.3)
        yield


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the guard's events so far."""
    found = (record.getMessage() for record in caplog.records)
    return [event for event in found if event.startswith("store_")]


async def refused(store: Store) -> str:
    """Check the store, which must then be refused in every way; return the reason."""
    while not await store.guard.check():  # its first connection may be one to the store before
        pass
    reason = store.guard.why_refused
    assert reason is not None
    with short_timeout():
        with pytest.raises(StoreUnavailable) as commit:
            await store.commits.commit(move("w>t1", 1))
        with pytest.raises(StoreUnavailable) as read:
            await store.tables.load_table(CODE)
    assert reason in str(commit.value)
    assert str(read.value) == reason
    return reason


async def test_a_setting_changed_at_run_time_stops_commits_until_it_is_right(
    mortal_store: StoreServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "saratoga")
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        mortal_store.ask("CONFIG", "SET", "appendfsync", "no")
        assert "`CONFIG SET appendfsync always`" in await refused(store)
        await store.guard.check()
        assert lines(caplog) == ["store_refused"]
        assert await texts(mortal_store) == 1
        mortal_store.ask("CONFIG", "SET", "appendfsync", "always")
        [outcome] = await race.commit(move("w>t1", 1))
        assert outcome.status is CommitStatus.DONE
        assert lines(caplog) == ["store_refused", "store_accepted"]


async def texts(server: StoreServer) -> int:
    """Return the length of the racer's log in the store."""
    [key] = [
        word for word in server.ask_all("KEYS", "*:log:anna*").split(b"\r\n") if b":log:" in word
    ]
    return int(server.ask("LLEN", key.decode()).removeprefix(b":"))


async def test_a_commit_under_way_when_the_store_is_refused_is_sent_again_when_it_is_right(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        mortal_store.ask("CONFIG", "SET", "appendfsync", "no")
        await store.guard.check()
        waiting = store.commits.commit(move("draw", 0))
        await store.guard.check()
        assert not waiting.done()
        mortal_store.ask("CONFIG", "SET", "appendfsync", "always")
        assert (await waiting).status is CommitStatus.DONE
        assert await race.texts() == ["draw"]


async def test_a_store_that_was_emptied_is_refused_until_the_data_are_back(
    mortal_store: StoreServer, tmp_path: Path
) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        copy_data(mortal_store, tmp_path / "copy")
        mortal_store.delete_data()
        assert "empty, or another store" in await refused(store)
        mortal_store.kill()
        restart_on(mortal_store, tmp_path / "copy")
        assert await race.texts() == ["draw"]


async def test_another_store_at_the_address_is_refused_before_anything_is_read_from_it(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store:
        await running_race(store)
        mortal_store.kill()
        restart_on(mortal_store, None)
        with short_timeout(), pytest.raises(StoreUnavailable, match="empty, or another store"):
            await store.tables.load_table(CODE)
        # a store that this server did not know before is taken as it is
        async with open_store(mortal_store.url) as other:
            assert await other.tables.load_table(CODE) is None
        await store.guard.check()
        assert "other data" in (store.guard.why_refused or "")


async def test_a_ledger_that_this_node_raises_while_it_reads_has_lost_nothing(
    mortal_store: StoreServer, caplog: pytest.LogCaptureFixture
) -> None:
    memory = LedgerMemory()
    async with open_store(mortal_store.url, memory=memory) as store:
        await store.guard.check()
        read = StoreGuard._read  # noqa: SLF001 - what it reads is old by the time it compares

        async def read_and_raise(self: StoreGuard) -> tuple[Millis, LedgerEntry]:
            now, found = await read(self)
            mortal_store.ask("HINCRBY", KEY, "sequence", "1")
            await memory.remember(LedgerEntry(found.generation, found.sequence + 1))
            return now, found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(StoreGuard, "_read", read_and_raise)
            await store.guard.check()
    assert lines(caplog) == []


@pytest.mark.parametrize(("durability", "level"), [("fast", "WARNING"), ("safe", "ERROR")])
async def test_lost_writes_are_reported_once_and_the_store_is_served(
    mortal_store: StoreServer, caplog: pytest.LogCaptureFixture, durability: str, level: str
) -> None:
    reported: list[str] = []
    async with open_store(
        mortal_store.url, Durability(durability), on_lost=lambda: reported.append("lost")
    ) as store:
        race = await running_race(store)
        mortal_store.ask("HINCRBY", KEY, "sequence", "1")
        await store.guard.check()
        assert reported == [], "another node has written"
        mortal_store.ask("HINCRBY", KEY, "sequence", "-1")
        for _ in range(2):
            await store.guard.check()
        await race.commit(move("draw", 0))
    assert reported == ["lost"]
    [line] = [each for each in caplog.records if each.getMessage() == "store_lost_writes"]
    assert line.levelname == level


@pytest.mark.parametrize(("key", "written"), [("{players}:ledger", 1), (KEY, STORE_FORMAT + 1)])
async def test_a_store_that_another_release_has_written_is_refused(
    mortal_store: StoreServer, key: str, written: int
) -> None:
    mortal_store.ask("HSET", key, "generation", "one", "format", str(written))
    with pytest.raises(StoreRefused, match="Another release of saratoga-server has written this"):
        async with open_store(mortal_store.url):
            pass
    assert mortal_store.ask("HGET", KEY, "sequence") == b"$-1"


async def test_a_store_whose_clock_is_before_this_release_is_refused(
    store_server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "RELEASED", (time() + 86_400) * 1000)
    with pytest.raises(StoreRefused, match="The store's clock is wrong"):
        async with open_store(store_server.url):
            pass


def copy_data(server: StoreServer, to: Path) -> None:
    shutil.copytree(server.folder / "appendonlydir", to)


def restart_on(server: StoreServer, data: Path | None) -> None:
    """Start a store that was killed, with other data or with none."""
    shutil.rmtree(server.folder / "appendonlydir")
    if data is not None:
        shutil.copytree(data, server.folder / "appendonlydir")
    server.start()


# Unsuitable stores are refused, with the reason and the command that fixes it


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


async def test_a_store_that_hides_its_settings_needs_trust_store(
    store_server: StoreServer,
) -> None:
    rules = ("on", ">word", "~*", "&*", "+@all", "-config")
    assert store_server.ask("ACL", "SETUSER", "managed", *rules) == b"+OK"
    url = f"{store_server.url}?username=managed&password=word"
    assert "--trust-store" in await refusal(url)
    async with open_store(url, trust_store=True) as store:
        assert await store.tables.now() > 0


async def test_a_cluster_is_refused(mortal_store: StoreServer) -> None:
    mortal_store.kill()
    mortal_store.settings |= {"cluster-enabled": "yes", "port": "0"}
    mortal_store.start()
    assert await refusal(mortal_store.url) == (
        "This store is a Redis or Valkey Cluster, which is not supported: give --redis the "
        "address of one store with `cluster-enabled no`, which may have replicas."
    )


async def test_a_replica_is_refused_with_the_primarys_address(mortal_store: StoreServer) -> None:
    mortal_store.ask("REPLICAOF", "127.0.0.1", "1")
    assert "127.0.0.1:1" in await refusal(mortal_store.url)


@pytest.mark.parametrize("version", ["6.2.14", "5.0.3", "0"])
def test_an_old_store_is_refused(version: str) -> None:
    with pytest.raises(StoreRefused, match="too old"):
        check_server({"cluster_enabled": 0, "redis_version": version})


# The ledger of a store, as several nodes raise it


async def test_every_node_raises_the_same_sequence_and_keeps_the_generation(
    store_server: StoreServer,
) -> None:
    east, west = LedgerMemory(), LedgerMemory()
    async with (
        open_store(store_server.url, memory=east) as first,
        open_store(store_server.url, memory=west) as second,
    ):
        for node in (first, second, second):
            node.guard.note_write()
            await node.guard.check()
    one, other = east.entry, west.entry
    assert one is not None
    assert other is not None
    assert one.generation
    assert (other.generation, other.sequence) == (one.generation, one.sequence + 2)
