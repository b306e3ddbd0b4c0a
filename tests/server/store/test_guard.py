"""The store guard: a store that changes while a server uses it gets no commits and answers no reads."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time

import pytest

from kit.running_race import CODE, move, running_race
from kit.stores import StoreServer, replica_of
from saratoga_server.ports import CommitStatus, StoreRefused, StoreUnavailable
from saratoga_server.store import batcher, confirmations, guard, ledger, store_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import LEDGER as KEY
from saratoga_server.store.ledger import STORE_FORMAT, Ledger, ProcessMemory
from saratoga_server.store.opening import Store, open_store


@pytest.fixture(autouse=True)
def checked_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the guard check the store only when a test or a new connection asks."""
    monkeypatch.setattr(guard, "CHECK_EVERY", 3_600.0)


@contextmanager
def short_timeout() -> Iterator[None]:
    """Shorten the timeout, so that commits and calls are given up soon."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (batcher, store_client):
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


@pytest.mark.parametrize(
    ("setting", "wrong", "right"),
    [
        ("appendfsync", "no", "always"),
        ("appendonly", "no", "yes"),
        ("maxmemory-policy", "allkeys-lru", "noeviction"),
        ("no-appendfsync-on-rewrite", "yes", "no"),
    ],
)
async def test_a_setting_changed_at_run_time_stops_commits_until_it_is_right(
    mortal_store: StoreServer,
    caplog: pytest.LogCaptureFixture,
    setting: str,
    wrong: str,
    right: str,
) -> None:
    caplog.set_level("INFO", "saratoga")
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        mortal_store.ask("CONFIG", "SET", setting, wrong)
        assert f"`CONFIG SET {setting} {right}`" in await refused(store)
        await store.guard.check()
        assert lines(caplog) == ["store_refused"]
        assert await texts(mortal_store) == 1
        mortal_store.ask("CONFIG", "SET", setting, right)
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


@pytest.mark.parametrize(("durability", "level"), [("fast", "WARNING"), ("safe", "ERROR")])
async def test_lost_writes_are_reported_once_and_the_store_is_served(
    mortal_store: StoreServer, caplog: pytest.LogCaptureFixture, durability: str, level: str
) -> None:
    reported: list[str] = []
    async with open_store(
        mortal_store.url, Durability(durability), on_lost=lambda: reported.append("lost")
    ) as store:
        race = await running_race(store)
        await store.guard.check()
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


async def test_a_store_that_was_last_used_a_year_ago_is_served(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url):
        pass
    long_ago = int((time() - 401 * 86_400) * 1000)
    mortal_store.ask("HSET", KEY, "at", str(long_ago))
    async with open_store(mortal_store.url) as store:
        await running_race(store)


async def test_a_store_whose_clock_is_before_this_release_is_refused(
    store_server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "RELEASED", (time() + 86_400) * 1000)
    with pytest.raises(StoreRefused, match=r"The store's clock is wrong: it shows 20.* UTC, when"):
        async with open_store(store_server.url):
            pass


async def test_the_guard_checks_by_itself(
    mortal_store: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "CHECK_EVERY", 0.01)
    async with open_store(mortal_store.url) as store, asyncio.timeout(10):
        mortal_store.ask("CONFIG", "SET", "appendfsync", "no")
        while store.guard.why_refused is None:  # noqa: ASYNC110 - the guard sets no event
            await asyncio.sleep(0)
        mortal_store.ask("CONFIG", "SET", "appendfsync", "always")
        while store.guard.why_refused is not None:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_the_guard_goes_on_after_an_error_and_refuses_what_it_could_not_check(
    mortal_store: StoreServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(guard, "CHECK_EVERY", 0.01)
    failed = asyncio.Event()

    async def fail(*_: object) -> None:
        failed.set()
        raise RuntimeError("can't start new thread")

    async with open_store(mortal_store.url) as store, asyncio.timeout(10):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ProcessMemory, "remember", fail)
            await failed.wait()
        sequence = mortal_store.ask_all("HGET", KEY, "sequence")
        while mortal_store.ask_all("HGET", KEY, "sequence") == sequence:  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert "store_check_failed" in lines(caplog)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Ledger, "read", fail)
            while store.guard.why_refused is None:  # noqa: ASYNC110 - the guard sets no event
                await asyncio.sleep(0)
            assert "can't start new thread" in store.guard.why_refused
        while store.guard.why_refused is not None:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_a_store_that_its_memory_does_not_know_is_refused_at_the_start(
    mortal_store: StoreServer,
) -> None:
    async with open_store(mortal_store.url) as store:
        memory = store.guard.memory
        mortal_store.delete_data()
        with pytest.raises(StoreRefused, match="empty, or another store"):
            async with open_store(mortal_store.url, memory=memory):
                pass


async def test_connections_and_reads_do_not_wait_for_a_replica_that_is_gone(
    mortal_store: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirmations, "REPLICA_TIMEOUT", 5_000)
    with replica_of(mortal_store) as replica:
        async with open_store(mortal_store.url, Durability.REPLICATED) as store:
            replica.kill()
            await store.guard.admit_connection()
            assert await store.tables.load_versions([CODE]) == [0]


def copy_data(server: StoreServer, to: Path) -> None:
    shutil.copytree(server.folder / "appendonlydir", to)


def restart_on(server: StoreServer, data: Path | None) -> None:
    """Start a store that was killed, with other data or with none."""
    shutil.rmtree(server.folder / "appendonlydir")
    if data is not None:
        shutil.copytree(data, server.folder / "appendonlydir")
    server.start()
