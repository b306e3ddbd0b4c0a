"""A store under Sentinels loses a machine, or its network: what was acknowledged is on a majority of machines.

Three machines on one, whose network the tests cut (`kit.deployment`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kit.deployment import NAME, WatchedStore, watched_store
from kit.stores import binary_of
from kit.tables import ANN, move, reached, running_race, seated, started_players
from saratoga_server.ports import CommitStatus, Durability, StoreRefused, StoreUnavailable
from saratoga_server.store import client, commits
from saratoga_server.store.opening import Store, open_store
from saratoga_server.store.tables import TableWrite

BOUND = 60
"""Seconds for everything in one test."""


@pytest.fixture
def watched(request: pytest.FixtureRequest) -> Iterator[WatchedStore]:
    with watched_store(binary_of(getattr(request, "param", "valkey"))) as opened:
        yield opened


@asynccontextmanager
async def opened(watched: WatchedStore) -> AsyncIterator[Store]:
    async with asyncio.timeout(BOUND), open_store(watched.url, Durability.REPLICATED) as store:
        yield store


@pytest.mark.parametrize(
    ("watched", "fault"),
    [
        ("valkey", "killed"),
        ("valkey", "cut off"),
        pytest.param("valkey", "paused", marks=pytest.mark.long),
        pytest.param(
            "redis", "killed", marks=[pytest.mark.long, pytest.mark.needs("redis-server")]
        ),
    ],
    indirect=["watched"],
)
async def test_moves_go_on_without_the_primary_and_none_is_lost(
    watched: WatchedStore, fault: str
) -> None:
    """A primary that is back, or wakes, takes nothing that is acknowledged."""
    async with opened(watched) as store:
        players = await started_players(store)
        playing = asyncio.create_task(players.play_until(players.rounds(120)))
        await reached(players, 40)
        old = watched.stores[0]
        if fault == "killed":
            old.kill()
        elif fault == "paused":
            old.pause()
        else:
            watched.network.partition(watched.hosts[:1], watched.hosts[1:])
        await asyncio.to_thread(watched.elected, other_than=0)
        await reached(players, 80)
        if fault == "killed":
            await asyncio.to_thread(old.start)
        elif fault == "paused":
            old.resume()
        else:
            watched.network.heal()
        await playing
        await players.check(store)


async def test_moves_go_on_without_a_replica_which_does_not_become_the_primary(
    watched: WatchedStore,
) -> None:
    async with opened(watched) as store:
        players = await started_players(store)
        watched.network.partition(watched.hosts[:1], watched.hosts[1:2])
        await players.play_until(players.rounds(40))
        assert watched.primary() == 0
        watched.stores[0].kill()
        watched.network.heal()
        assert await asyncio.to_thread(watched.elected, other_than=0) == 2
        await players.play_until(players.rounds(80))
        await players.check(store)


@pytest.fixture
def shorten_timeouts(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a function that shortens the timeouts (True) or restores them (False)."""

    def change(lost: bool) -> None:
        if not lost:
            monkeypatch.undo()
            return
        for module in (commits, client):
            monkeypatch.setattr(module, "STORE_TIMEOUT", 0.5)
        monkeypatch.setattr(client, "REPLICA_TIMEOUT", 50)

    return change


async def test_without_replicas_nothing_is_acknowledged_and_nothing_shown(
    watched: WatchedStore, shorten_timeouts: Callable[[bool], None]
) -> None:
    async with opened(watched) as store:
        race = await running_race(store)
        for each in watched.stores[1:]:
            each.pause()
        shorten_timeouts(True)
        unconfirmed = asyncio.ensure_future(race.commit(move("draw", 0)))
        write = TableWrite(version=0, before=None, after=seated(ANN))
        for ask in (race.texts, lambda: store.tables.save_table(write)):
            with pytest.raises(StoreUnavailable):
                await ask()
        with pytest.raises(StoreUnavailable):
            await unconfirmed
        for each in watched.stores[1:]:
            each.resume()
        shorten_timeouts(False)
        [outcome] = await race.commit(move("draw", 0))
        assert (outcome.status, outcome.number) == (CommitStatus.DONE, 1)
        assert await race.texts() == ["draw"]


@pytest.mark.parametrize(
    ("layout", "says"),
    [
        pytest.param({"sentinels_on": (0, 8, 9)}, "The Sentinels run on", id="elsewhere"),
        pytest.param({"sentinels_on": (0, 1)}, "2 Sentinels watch 3 machines", id="one missing"),
        pytest.param({"machines": 2}, "has 1 replicas", id="too few replicas"),
        pytest.param({"last": {"replica-priority": "50"}}, "replica-priority", id="favourite"),
    ],
)
async def test_another_layout_is_refused(layout: dict[str, Any], says: str) -> None:
    with watched_store(binary_of("valkey"), down_after=30_000, **layout) as watched:
        await refused(watched, says)


async def refused(watched: WatchedStore, says: str) -> None:
    with pytest.raises(StoreRefused, match=says):
        async with opened(watched):
            pass


async def test_other_settings_of_a_machine_are_refused(watched: WatchedStore) -> None:
    for name, wrong, right, says in (
        ("min-replicas-to-write", "0", "1", "without its replicas"),
        ("appendfsync", "everysec", "always", "before they are on disk"),
    ):
        watched.stores[2].ask("CONFIG", "SET", name, wrong)
        await refused(watched, says)
        watched.stores[2].ask("CONFIG", "SET", name, right)
    watched.sentinels[2].ask("SENTINEL", "SET", NAME, "quorum", "1")
    await refused(watched, "quorum is 1")
