"""The way of every move into the store: to the batcher of the primary that owns its partition.

A store by itself has one batcher, and nothing stands before it. In a cluster each primary has one;
what fails there because its partition has moved, or is on its way, goes to the new owner, marked as
sent before.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from saratoga_server.logs import EventLog
from saratoga_server.ports import BoardCommit, CommitOutcome
from saratoga_server.store.batcher import Alone, Batcher, fail
from saratoga_server.store.batches import Batches, Waiter, by_partition, together
from saratoga_server.store.keys import DUE_KEYS, partition
from saratoga_server.store.line import Line
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store_timeout import STORE_TIMEOUT

_PAUSE: Final = 0.05
"""Seconds before a call goes again whose partition is somewhere else."""

_log = EventLog("store")

Submit = Callable[[BoardCommit], asyncio.Future[CommitOutcome]]
Connect = Callable[[Primary, Line], Awaitable[None]]
"""Opens a line to a primary that is fit for use and has our Functions."""


class Commits:
    """`submit` appends to one board's log; many of them share a request."""

    def __init__(
        self,
        primaries: Primaries,
        connect: Connect,
        batches: Batches,
        on_batch: Callable[[int], None] = lambda boards: None,
    ) -> None:
        """`on_batch` is told how many boards went in each request."""
        self._primaries = primaries
        self._connect = connect
        self._batches = batches
        self._on_batch = on_batch
        self._loop = asyncio.get_running_loop()
        self._batchers: dict[Primary, Batcher] = {}
        self._later: set[asyncio.Task[None]] = set()
        self._deaf = primaries.on_change(self._follow)
        self.submit: Submit = self._submit
        """Puts a commit on its way; the future fails with `StoreUnavailable`."""
        if not primaries.is_cluster:
            # for every move: not a call more than it takes
            self.submit = self._batcher(primaries.all()[0]).submit

    def start(self) -> None:
        """Connect before the first commit comes."""
        for primary in self._primaries.all():
            self._batcher(primary).start()

    async def close(self) -> None:
        """Let what is on its way arrive, within `STORE_TIMEOUT`; then drop the connections."""
        self._deaf()
        for each in self._batchers.values():
            each.shut()
        until = self._loop.time() + STORE_TIMEOUT
        while (awaited := self._under_way()) and self._loop.time() < until:
            await asyncio.wait(awaited, timeout=until - self._loop.time())
        for task in self._later:
            task.cancel()
        await asyncio.gather(*(each.close() for each in self._batchers.values()))

    def _under_way(self) -> list[asyncio.Future[Any]]:
        futures: list[asyncio.Future[Any]] = list(self._later)
        for each in self._batchers.values():
            futures += (waiter[1] for waiter in each.under_way())
        return [future for future in futures if not future.done()]

    # a cluster

    def _submit(self, commit: BoardCommit) -> asyncio.Future[CommitOutcome]:
        return self._owner(commit).submit(commit)

    def _owner(self, commit: BoardCommit) -> Batcher:
        return self._batcher(self._primaries.of(DUE_KEYS[partition(commit.table)]))

    def _batcher(self, primary: Primary) -> Batcher:
        known = self._batchers.get(primary)
        if known is None:

            async def connect(line: Line) -> None:
                await self._connect(primary, line)

            is_cluster = self._primaries.is_cluster
            known = self._batchers[primary] = Batcher(
                connect,
                self._batches,
                by_partition if is_cluster else together,
                _Cluster(self, primary) if is_cluster else Alone(),
                self._on_batch,
            )
        return known

    def _follow(self) -> None:
        """Be connected to new primaries before somebody needs it; let go of old ones."""
        primaries = self._primaries.all()
        for primary in primaries:
            if primary not in self._batchers:
                self._batcher(primary).start()
        for primary in [each for each in self._batchers if each not in primaries]:
            self._spawn(self._batchers.pop(primary).close(within=STORE_TIMEOUT))

    def send_on(self, waiter: Waiter, *, again: bool) -> None:
        """Give a commit to whoever owns it now."""
        owner = self._owner(waiter[0])
        if again:
            owner.take_again((waiter,))
        else:
            owner.take((waiter,))

    def put_off(self, waiters: list[Waiter]) -> None:
        """Send commits again a little later, to whoever owns them then."""
        self._spawn(self._send_later(waiters))

    def _spawn(self, errand: Awaitable[None]) -> None:
        task = asyncio.ensure_future(errand)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _send_later(self, waiters: list[Waiter]) -> None:
        left = deque(waiters)
        try:
            await asyncio.sleep(_PAUSE)
            await self._primaries.refresh()
            now = self._loop.time()
            fail([waiter for waiter in waiters if waiter[2] <= now], "its partition is elsewhere")
            while left:
                if not left[0][1].done():
                    self.send_on(left[0], again=True)
                left.popleft()
        except Exception as fault:  # the edge: they are told, and come again if they like
            _log.error("moves_not_sent_on", fault=fault)
        finally:
            fail(left, "its partition is elsewhere")

    def owns(self, primary: Primary, waiter: Waiter) -> bool:
        return self._primaries.of(DUE_KEYS[partition(waiter[0].table)]) is primary

    async def look(self) -> None:
        await self._primaries.refresh()

    def is_primary(self, primary: Primary) -> bool:
        return primary in self._primaries.all()


class _Cluster:
    """What one primary's batcher asks about the others."""

    def __init__(self, commits: Commits, primary: Primary) -> None:
        self._commits = commits
        self._primary = primary

    async def look(self) -> None:
        await self._commits.look()

    def sort_out(self, waiters: list[Waiter], *, again: bool) -> list[Waiter]:
        kept = []
        for waiter in waiters:
            if self._commits.owns(self._primary, waiter):
                kept.append(waiter)
            else:
                self._commits.send_on(waiter, again=again)
        return kept

    def put_off(self, waiters: list[Waiter]) -> bool:
        self._commits.put_off(waiters)
        return True

    @property
    def is_here(self) -> bool:
        return self._commits.is_primary(self._primary)
