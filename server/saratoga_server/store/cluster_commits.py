"""Commits in a cluster: each goes to the batcher of the primary that owns its partition.

A single store needs only a `Batcher`.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from saratoga_server.ports import BoardCommit, CommitOutcome
from saratoga_server.store.batcher import Batcher, Connect
from saratoga_server.store.commit_encoder import CommitEncoder
from saratoga_server.store.pending import PendingCommit
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store_timeout import STORE_TIMEOUT


class ClusterCommits:
    """The batchers of a cluster: one for each primary, following the slot map."""

    def __init__(
        self,
        primaries: Primaries,
        connect: Connect,
        encoder: CommitEncoder,
        on_batch: Callable[[int], None],
    ) -> None:
        """`on_batch` observes the number of boards in each request."""
        self._primaries = primaries
        self._connect = connect
        self._encoder = encoder
        self._on_batch = on_batch
        self._batchers: dict[Primary, Batcher] = {}
        self._retiring: set[asyncio.Task[None]] = set()
        self._following: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Connect before the first commit comes, and follow the slot map."""
        self._following = asyncio.create_task(self._follow_map())

    def commit(self, commit: BoardCommit) -> asyncio.Future[CommitOutcome]:
        """Send a commit; return a future, which fails with `StoreUnavailable` if the outcome is unknown."""
        return self._batcher(self._primaries.of_table(commit.table)).commit(commit)

    def drop_connection(self, reason: str) -> None:
        """Disconnect from every primary; what is pending is sent again over the next connections."""
        for batcher in self._batchers.values():
            batcher.drop_connection(reason)

    async def close(self, within: float) -> None:
        """Wait for the outcomes of pending commits, up to `within` seconds; then disconnect."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        for batcher in self._batchers.values():
            batcher.stop_accepting()
        clock = asyncio.get_running_loop().time
        deadline = clock() + within
        # batchers hand commits over to each other, so none may close before all are done
        while (pending := self._pending()) and clock() < deadline:
            await asyncio.wait(pending, timeout=deadline - clock())
        await asyncio.gather(*(each.close(0) for each in self._batchers.values()), *self._retiring)

    def _pending(self) -> list[asyncio.Future[Any]]:
        outcomes: list[asyncio.Future[Any]] = list(self._retiring)
        for batcher in self._batchers.values():
            outcomes += (each.outcome for each in batcher.pending())
        return outcomes

    async def _follow_map(self) -> None:
        """Connect to new primaries before a commit needs them; close the batchers of former ones."""
        while True:
            revision = self._primaries.revision
            primaries = self._primaries.all()
            for primary in primaries:
                if primary not in self._batchers:
                    self._batcher(primary).start()
            for primary in self._batchers.keys() - set(primaries):
                former = self._batchers.pop(primary)
                task = asyncio.create_task(former.close(STORE_TIMEOUT))
                self._retiring.add(task)
                task.add_done_callback(self._retiring.discard)
            await self._primaries.changed_since(revision)

    def _batcher(self, primary: Primary) -> Batcher:
        batcher = self._batchers.get(primary)
        if batcher is None:
            batcher = self._batchers[primary] = Batcher(
                self._primaries,
                primary,
                self._connect,
                self._encoder,
                self._on_batch,
                self._hand_over,
            )
        return batcher

    def _hand_over(self, pending: PendingCommit) -> None:
        self._batcher(self._primaries.of_table(pending.commit.table)).take_over(pending)
