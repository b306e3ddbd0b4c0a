"""Commits to one primary: those of one turn of the event loop share a request."""

import asyncio

import pytest

from kit.running_race import ANNA, BERT, move, running_race
from kit.stores import StoreServer
from saratoga_server.ports import CommitStatus, StoreUnavailable
from saratoga_server.store.batcher import BATCH, Batcher
from saratoga_server.store.opening import open_store


async def test_commits_of_one_turn_share_a_request(store_server: StoreServer) -> None:
    batches: list[int] = []
    async with open_store(store_server.url, on_batch=batches.append) as store:
        assert isinstance(store.commits, Batcher)
        await running_race(store)
        one, two = (
            store.commits.commit(move("draw", 0)),
            store.commits.commit(move("draw", 0, player=BERT)),
        )
        assert [(await each).status for each in (one, two)] == [CommitStatus.DONE] * 2
        assert batches == [2]
        third = store.commits.commit(move("draw", 1, player=ANNA))
        assert (await third).length == 2
        assert batches == [2, 1]


async def test_a_request_holds_a_bounded_number_of_boards(store_server: StoreServer) -> None:
    batches: list[int] = []
    async with open_store(store_server.url, on_batch=batches.append) as store:
        commits = [store.commits.commit(move("draw", 0, player=f"p{n}")) for n in range(BATCH + 1)]
        outcomes = await asyncio.gather(*commits)
    assert {outcome.status for outcome in outcomes} == {CommitStatus.NO_BOARD}
    assert batches == [BATCH, 1]


async def test_a_commit_after_the_end_fails(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store:
        pass
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.commits.commit(move("draw", 0))


async def test_a_commit_under_way_is_waited_for_at_the_end(store_server: StoreServer) -> None:
    async with open_store(store_server.url) as store:
        await running_race(store)
        outcome = store.commits.commit(move("draw", 0))
    assert (await outcome).status is CommitStatus.DONE


async def test_a_commit_outlives_a_restart_of_the_store(mortal_store: StoreServer) -> None:
    async with open_store(mortal_store.url) as store:
        race = await running_race(store)
        await race.commit(move("draw", 0))
        mortal_store.kill()
        outcome = store.commits.commit(move("draw", 1))
        mortal_store.start()
        assert (await outcome).length == 2
        assert await race.texts() == ["draw", "draw"]
