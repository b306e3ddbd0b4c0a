"""Pending commits: commits that are waiting for their outcome."""

import asyncio
from collections.abc import Iterable

from msgspec import Struct

from saratoga_server.ports import BoardCommit, CommitOutcome, StoreUnavailable
from saratoga_server.store.keys import partition


class PendingCommit(Struct, eq=False):
    """A commit that is waiting for its outcome."""

    commit: BoardCommit
    outcome: asyncio.Future[CommitOutcome]
    deadline: float
    """The time at which the commit is given up, by the loop's clock."""
    was_sent: bool = False
    """True if the commit was sent, so that it must be sent again as a repeat."""


def fail(commits: Iterable[PendingCommit], reason: str) -> None:
    """Fail the commits that have no outcome yet with `StoreUnavailable`."""
    for pending in commits:
        if not pending.outcome.done():
            pending.outcome.set_exception(StoreUnavailable(f"the store took no commit: {reason}"))


def by_partition(commits: list[PendingCommit]) -> list[list[PendingCommit]]:
    """Return the commits grouped by partition; a Function call in a cluster may use only one slot."""
    calls: dict[int, list[PendingCommit]] = {}
    for pending in commits:
        calls.setdefault(partition(pending.commit.table), []).append(pending)
    return list(calls.values())
