"""The batcher: sends commits to the store, in batches.

One batch is in flight at a time; commits that arrive meanwhile make the next batch. A batch whose
reply was lost is sent again: the store finds the entries where they belong, and answers as it did the first time.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import hiredis
from msgspec import Struct
from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.ports import (
    BoardCommit,
    CommitOutcome,
    CommitStatus,
    StoreRefused,
    StoreUnavailable,
)
from saratoga_server.store.clients import STORE_TIMEOUT
from saratoga_server.store.commit_encoder import CommitEncoder, is_confirmed
from saratoga_server.store.errors import is_function_missing, is_transient
from saratoga_server.store.request_connection import RequestConnection
from saratoga_server.store.resp_connection import Reply

BATCH: Final = 256
"""The most boards in one request; longer requests would block the store's other work."""
CONNECT_TIMEOUT: Final = 2.0
"""Seconds for one attempt to connect to a usable store."""

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.25
"""The longest pause, in seconds, between two attempts to reconnect."""
_RETRY_PAUSE: Final = 0.05
"""Seconds before a batch that met a transient error is sent again."""

_STATUSES: Final = tuple(CommitStatus)

_log = EventLog("store")

Connect = Callable[[], Awaitable[asyncio.Transport]]
"""A function that checks the store, loads our Functions into it, and connects to it."""


class PendingCommit(Struct, eq=False):
    """A commit that is waiting for its outcome."""

    commit: BoardCommit | None
    """`None`: nothing is written, only an answer is wanted."""
    outcome: asyncio.Future[CommitOutcome]
    deadline: float
    """The time at which the commit is given up, by the loop's clock."""


def fail(commits: Iterable[PendingCommit], reason: str) -> None:
    """Fail the commits that have no outcome yet with `StoreUnavailable`."""
    for pending in commits:
        if not pending.outcome.done():
            pending.outcome.set_exception(StoreUnavailable(f"the store took no commit: {reason}"))


class Batcher:
    """The commits to the boards of the store, sent in batches."""

    def __init__(
        self, connect: Connect, encoder: CommitEncoder, on_batch: Callable[[int], None]
    ) -> None:
        """`on_batch` observes the number of boards in each request."""
        self._connect = connect
        self._encoder = encoder
        self._on_batch = on_batch
        self._loop = asyncio.get_running_loop()
        self._connection: RequestConnection | None = None
        self._waiting: deque[PendingCommit] = deque()
        """Commits not sent yet."""
        self._in_flight: list[PendingCommit] = []
        """The batch that was sent and has no reply."""
        self._is_active = False
        """True if `_flush` runs without being scheduled: after a reply, or a recovery."""
        self._recovery: asyncio.Task[None] | None = None
        self._last_error = "no reply in time"
        self._is_closed = False

    def start(self) -> None:
        """Connect before the first commit comes."""
        self._recover("not connected")

    def commit(self, commit: BoardCommit) -> asyncio.Future[CommitOutcome]:
        """Send a commit; the future fails with `StoreUnavailable` if the outcome is unknown."""
        return self._enqueue(commit)

    async def ask(self) -> None:
        """Wait for an answer on the connection that moves take. Raises `StoreUnavailable`."""
        await self._enqueue(None)

    def _enqueue(self, commit: BoardCommit | None) -> asyncio.Future[CommitOutcome]:
        loop = self._loop
        outcome: asyncio.Future[CommitOutcome] = loop.create_future()
        pending = PendingCommit(commit, outcome, loop.time() + STORE_TIMEOUT)
        if self._is_closed:
            fail([pending], "the connection is closed")
            return outcome
        self._waiting.append(pending)
        if not self._is_active:
            self._is_active = True
            loop.call_soon(self._flush)
        return outcome

    def drop_connection(self, reason: str) -> None:
        """Disconnect without waiting for replies; what is pending is sent again."""
        self._disconnect()
        if self._is_needed:
            self._recover(reason)

    async def close(self, within: float) -> None:
        """Wait for the outcomes of pending commits, up to `within` seconds; then disconnect."""
        self._is_closed = True
        if pending := self._pending():
            await asyncio.wait([each.outcome for each in pending], timeout=within)
        if self._recovery is not None:
            # do not cancel a connection attempt: redis-py leaks cancelled connections
            await asyncio.wait([self._recovery], timeout=2 * CONNECT_TIMEOUT)
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.wait([self._recovery])
        self._disconnect()
        fail(self._pending(), "the connection is closed")

    def _pending(self) -> list[PendingCommit]:
        """Return every commit without an outcome."""
        return [each for each in (*self._in_flight, *self._waiting) if not each.outcome.done()]

    # sending

    def _flush(self) -> None:
        """Send the next batch, unless one is in flight."""
        if self._in_flight or self._recovery is not None:
            return
        if not self._waiting:
            self._is_active = False
        elif self._connection is None:
            self._recover("not connected")
        else:
            self._in_flight = self._next_batch()
            self._send(self._connection)

    def _next_batch(self) -> list[PendingCommit]:
        waiting = self._waiting
        if len(waiting) <= BATCH:
            batch = list(waiting)
            waiting.clear()
            return batch
        return [waiting.popleft() for _ in range(BATCH)]

    def _send(self, connection: RequestConnection) -> None:
        """Send the batch in flight, for the first time or again."""
        batch = self._in_flight
        try:
            commits = [each.commit for each in batch if each.commit is not None]
            request = self._encoder.encode(commits)
        except (TypeError, ValueError, OverflowError) as error:
            # cannot happen with a judged move; fail the batch instead of blocking the next one
            self._in_flight = []
            fail(batch, f"a commit cannot be encoded: {error}")
            self._loop.call_soon(self._flush)
        else:
            connection.send(request, 1 + self._encoder.confirmations)
            if commits:
                self._on_batch(len(commits))

    # receiving

    def _on_replies(self, replies: list[Reply]) -> None:
        answer, *confirmation = replies
        if isinstance(answer, hiredis.ReplyError):
            self._on_error(str(answer))
        elif not is_confirmed(confirmation, self._encoder.replicas):
            self._on_unconfirmed(confirmation)
        else:
            batch, self._in_flight = self._in_flight, []
            _deliver(batch, answer)
            self._flush()

    def _on_error(self, error: str) -> None:
        """Handle an error reply. Some commits of the batch may be written nevertheless."""
        if is_function_missing(error):
            # the Functions are loaded before the next connection is used
            self._disconnect()
            self._recover(error)
        elif is_transient(error):
            self._recover(error, _RETRY_PAUSE)
        else:
            batch, self._in_flight = self._in_flight, []
            fail(batch, error)
            self._flush()

    def _on_unconfirmed(self, confirmation: list[Reply]) -> None:
        if errors := [str(each) for each in confirmation if isinstance(each, hiredis.ReplyError)]:
            self._recover(errors[0])
        else:  # WAIT has taken a second already, so no further pause is needed
            self._recover("too few replicas confirmed the write", _FIRST_PAUSE)

    # recovery

    def _on_lost(self, reason: str) -> None:
        self._connection = None
        self._recover(reason)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            self._connection = None

    def _recover(self, reason: str, pause: float = _LONGEST_PAUSE) -> None:
        """Reconnect and continue; after an error reply, `pause` seconds later.

        A new connection, because another process may have become the store's primary.
        """
        self._is_active = True
        self._last_error = reason
        if self._recovery is None:
            self._recovery = self._loop.create_task(self._run_recovery(pause))

    async def _run_recovery(self, pause: float) -> None:
        if self._connection is not None:
            await asyncio.sleep(pause)
            self._disconnect()
        await self._reconnect()
        self._recovery = None
        if self._in_flight and self._connection is not None:
            self._send(self._connection)
        else:
            self._flush()

    async def _reconnect(self) -> None:
        """Reconnect; return when there is a connection, or when none is needed any more."""
        pause = _FIRST_PAUSE
        self._drop_late()
        while self._connection is None and self._is_needed:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    transport = await self._connect()
            except (StoreUnavailable, StoreRefused, RedisError, TimeoutError) as error:
                self._last_error = str(error) or "no connection in time"
            except Exception as error:  # after any error, try again
                _log.error("store_connect_failed", fault=error)
                self._last_error = str(error)
            else:
                self._connection = RequestConnection(transport, self._on_replies, self._on_lost)
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            self._drop_late()

    @property
    def _is_needed(self) -> bool:
        return bool(self._in_flight or self._waiting) or not self._is_closed

    def _drop_late(self) -> None:
        """Fail the commits whose time is over."""
        now = self._loop.time()
        fail((each for each in self._pending() if each.deadline <= now), self._last_error)
        self._in_flight = [each for each in self._in_flight if not each.outcome.done()]
        self._waiting = deque(each for each in self._waiting if not each.outcome.done())


def _deliver(batch: list[PendingCommit], answer: list[Any]) -> None:
    for pending in batch:
        if pending.commit is None and not pending.outcome.done():
            pending.outcome.set_result(CommitOutcome(CommitStatus.DONE))
    batch = [pending for pending in batch if pending.commit is not None]
    fives = zip(*[iter(answer)] * 5, strict=True)
    for pending, (status, length, at, number, racing) in zip(batch, fives, strict=True):
        outcome = pending.outcome
        if not outcome.done():
            outcome.set_result(CommitOutcome(_STATUSES[status], length, at, number, racing))
