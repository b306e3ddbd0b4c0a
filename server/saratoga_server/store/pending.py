"""Commits that are waiting for their outcome."""

import asyncio
from collections.abc import Iterable

from msgspec import Struct

from saratoga_server.ports import BoardCommit, CommitOutcome, StoreUnavailable
from saratoga_server.store.keys import partition


class PendingCommit(Struct, eq=False):
    """A commit without an outcome yet."""

    commit: BoardCommit
    outcome: asyncio.Future[CommitOutcome]
    deadline: float
    """When its outcome is given up, by the loop's clock."""
    was_sent: bool = False
    """Whether the store may have it already: then it is sent as a repeat."""


def fail(commits: Iterable[PendingCommit], reason: str) -> None:
    """Fail the commits that have no outcome yet: it is not known what became of them."""
    for pending in commits:
        if not pending.outcome.done():
            pending.outcome.set_exception(StoreUnavailable(f"the store does not answer: {reason}"))


def by_partition(commits: list[PendingCommit]) -> list[list[PendingCommit]]:
    """Group by partition: in a cluster no Function call may reach over two of them."""
    calls: dict[int, list[PendingCommit]] = {}
    for pending in commits:
        calls.setdefault(partition(pending.commit.table), []).append(pending)
    return list(calls.values())
