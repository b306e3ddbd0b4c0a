"""Pending commits: cancelled ones, and groups that fit one call."""

import asyncio

import pytest

from kit.running_race import move
from saratoga_server.ports import CommitOutcome, StoreUnavailable
from saratoga_server.store.keys import partition
from saratoga_server.store.pending import PendingCommit, by_partition, fail


def pending(table: str) -> PendingCommit:
    outcome: asyncio.Future[CommitOutcome] = asyncio.get_running_loop().create_future()
    return PendingCommit(move("t1>up", 0, code=table), outcome, deadline=1.0)


async def test_a_failed_call_raises_an_error_at_every_waiting_commit() -> None:
    waiting, given_up = pending("mint-otter-42"), pending("mint-otter-42")
    given_up.outcome.cancel()
    fail([given_up, waiting], "no route")
    assert given_up.outcome.cancelled()
    with pytest.raises(StoreUnavailable, match="the store took no commit: no route"):
        await waiting.outcome


async def test_a_call_holds_the_commits_of_one_partition_in_their_order() -> None:
    one, other, third = (pending(code) for code in ("mint-otter-42", "odd-emu-11", "mint-otter-42"))
    assert partition("mint-otter-42") != partition("odd-emu-11")
    assert by_partition([one, other, third]) == [[one, third], [other]]
