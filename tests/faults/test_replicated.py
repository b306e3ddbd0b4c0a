"""The level `replicated`: nothing is acknowledged before a replica has it."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from kit.faulty_link import link_to_store, lose_next_answer
from kit.running_race import ANNA, CODE, move, running_race
from kit.stores import StoreServer, replica_of
from saratoga_server.ports import CommitStatus, StoreUnavailable, TableWrite
from saratoga_server.store import batcher, commit_encoder, store_client
from saratoga_server.store.durability import Durability
from saratoga_server.store.opening import open_store


@pytest.fixture
def replica(mortal_store: StoreServer) -> Iterator[StoreServer]:
    """A replica of `mortal_store`, in sync with it."""
    with replica_of(mortal_store) as server:
        yield server


@pytest.fixture
def shorten_timeouts(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a function that shortens the timeouts (True) or restores them (False)."""

    def change(lost: bool) -> None:
        if not lost:
            monkeypatch.undo()
            return
        for module in (batcher, store_client):
            monkeypatch.setattr(module, "STORE_TIMEOUT", 0.5)
        monkeypatch.setattr(commit_encoder, "REPLICA_TIMEOUT", 50)

    return change


async def test_acknowledged_moves_are_on_the_replica(
    mortal_store: StoreServer, replica: StoreServer
) -> None:
    async with open_store(mortal_store.url, Durability.REPLICATED) as store:
        race = await running_race(store)
        for after in range(50):
            [outcome] = await race.commit(move("draw", after))
            assert outcome.status is CommitStatus.DONE
        mortal_store.kill()
        assert replica.ask("REPLICAOF", "NO", "ONE") == b"+OK"
    async with open_store(replica.url) as store:
        board = await store.boards.load_board(CODE, 1, ANNA)
        assert board is not None
        assert len(board.entries) == 50


async def test_without_a_replica_nothing_is_acknowledged(
    mortal_store: StoreServer, replica: StoreServer, shorten_timeouts: Callable[[bool], None]
) -> None:
    async with open_store(mortal_store.url, Durability.REPLICATED) as store:
        race = await running_race(store)
        replica.pause()
        shorten_timeouts(True)
        with pytest.raises(StoreUnavailable):
            await race.commit(move("draw", 0))
        with pytest.raises(StoreUnavailable):
            await store.tables.save_table(TableWrite(code=CODE, expected=1, body=b"x", due=None))
        replica.resume()
        shorten_timeouts(False)
        outcomes = await race.commit(move("draw", 0))
        assert outcomes[0].status is CommitStatus.REPEAT
        assert await race.texts() == ["draw"]


async def test_moves_that_no_replica_has_are_not_read(
    mortal_store: StoreServer, replica: StoreServer, shorten_timeouts: Callable[[bool], None]
) -> None:
    async with open_store(mortal_store.url, Durability.REPLICATED) as store:
        race = await running_race(store)
        replica.pause()
        shorten_timeouts(True)
        unconfirmed = asyncio.ensure_future(race.commit(move("draw", 0)))
        for look in (race.texts, lambda: store.tables.load_table(CODE)):
            with pytest.raises(StoreUnavailable):
                await look()
        with pytest.raises(StoreUnavailable):
            await unconfirmed
        replica.resume()
        shorten_timeouts(False)
        assert await race.texts() == ["draw"]
        assert await store.tables.load_table(CODE) == (1, b"running")


async def test_commits_wait_for_a_replica_that_comes_back_in_time(
    mortal_store: StoreServer, replica: StoreServer
) -> None:
    async with open_store(mortal_store.url, Durability.REPLICATED) as store:
        race = await running_race(store)
        replica.pause()
        commit = asyncio.ensure_future(race.commit(move("draw", 0)))
        await asyncio.wait([commit], timeout=0.2)
        assert not commit.done()
        replica.resume()
        [outcome] = await commit
        assert (outcome.status, outcome.number) == (CommitStatus.DONE, 1)


async def test_a_new_connection_does_not_take_old_writes_for_replicated(
    mortal_store: StoreServer, replica: StoreServer
) -> None:
    """WAIT counts from the last write of its own connection, and a new connection has none."""
    lossy = mortal_store.folder / "lossy"
    async with (
        link_to_store(mortal_store.socket, lossy, lose_next_answer("commit_boards")) as link,
        open_store(link.url, Durability.REPLICATED) as store,
    ):
        race = await running_race(store)
        replica.pause()
        commit = asyncio.ensure_future(race.commit(move("draw", 0)))
        await link.has_lost_answer.wait()
        await asyncio.wait([commit], timeout=0.2)
        assert not commit.done()
        replica.resume()
        [outcome] = await commit
        assert outcome.status is CommitStatus.DONE
