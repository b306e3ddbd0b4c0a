"""The batcher: sends commits to one primary, in batches.

One batch is in flight at a time; commits that arrive meanwhile make the next batch. A batch whose reply
was lost is sent again, marked as a repeat, and the store answers as it did the first time. A batch may
have several Function calls, each with its own answer.

In a cluster, a commit may belong to another primary by the time it is sent again; then it is handed over.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from itertools import chain
from typing import Any, Final

import hiredis
from redis.exceptions import RedisError

from saratoga_server.logs import EventLog
from saratoga_server.ports import (
    BoardCommit,
    CommitOutcome,
    CommitStatus,
    StoreRefused,
    StoreUnavailable,
)
from saratoga_server.store.commit_encoder import CommitEncoder
from saratoga_server.store.confirmations import is_confirmed
from saratoga_server.store.errors import is_function_missing, is_transient
from saratoga_server.store.pending import PendingCommit, by_partition, fail
from saratoga_server.store.primaries import Primaries, Primary
from saratoga_server.store.request_connection import RequestConnection
from saratoga_server.store.resp_connection import Reply
from saratoga_server.store_timeout import STORE_TIMEOUT

BATCH: Final = 256
"""The most boards in one request; longer requests would block the store's other work."""
CONNECT_TIMEOUT: Final = 2.0
"""Seconds for one attempt to connect to a usable store."""

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.25
"""The longest pause, in seconds, between two attempts to reconnect."""
_RETRY_PAUSE: Final = 0.05
"""Seconds before a call that met a transient error is sent again."""

_STATUSES: Final = tuple(CommitStatus)

_log = EventLog("store")

Connect = Callable[[Primary], Awaitable[asyncio.Transport]]
"""A function that checks a primary, loads our Functions into it, and connects to it."""
HandOver = Callable[[PendingCommit], None]
"""A function that takes a commit that belongs to another primary."""


class Batcher:
    """The commits to the boards of one primary, sent in batches."""

    def __init__(
        self,
        primaries: Primaries,
        primary: Primary,
        connect: Connect,
        encoder: CommitEncoder,
        on_batch: Callable[[int], None],
        hand_over: HandOver | None = None,
    ) -> None:
        """`on_batch` observes the number of boards in each request.

        `hand_over` is for clusters: a single primary owns every board.
        """
        self._primaries = primaries
        self._primary = primary
        self._connect = connect
        self._encoder = encoder
        self._on_batch = on_batch
        self._hand_over = hand_over
        self._loop = asyncio.get_running_loop()
        self._connection: RequestConnection | None = None
        self._waiting: deque[PendingCommit] = deque()
        """Commits not sent yet."""
        self._resend: list[PendingCommit] = []
        """Commits sent before, perhaps to another primary; they go first, in separate requests."""
        self._delayed: list[PendingCommit] = []
        """Commits that met a transient error and are sent again after a pause."""
        self._retry_timer: asyncio.TimerHandle | None = None
        self._in_flight: list[list[PendingCommit]] = []
        """The calls of the batch in flight."""
        self._is_active = False
        """True if `_flush` runs without being scheduled: after a reply, or a recovery."""
        self._recovery: asyncio.Task[None] | None = None
        self._last_error = "no reply in time"
        self._is_closed = False

    def start(self) -> None:
        """Connect before the first commit comes."""
        self._recover("not connected")

    def commit(self, commit: BoardCommit) -> asyncio.Future[CommitOutcome]:
        """Send a commit; return a future, which fails with `StoreUnavailable` if the outcome is unknown."""
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

    def take_over(self, pending: PendingCommit) -> None:
        """Send a commit that was submitted for another primary."""
        if pending.was_sent:
            self._resend.append(pending)
        else:
            self._waiting.append(pending)
        self._schedule_flush()

    def pending(self) -> list[PendingCommit]:
        """Return every commit without an outcome."""
        in_flight = chain.from_iterable(self._in_flight)
        queued = chain(in_flight, self._delayed, self._resend, self._waiting)
        return [each for each in queued if not each.outcome.done()]

    def drop_connection(self, reason: str) -> None:
        """Disconnect without waiting for replies; what is pending is sent again over the next connection."""
        self._disconnect()
        if self._is_needed:
            self._recover(reason)

    def stop_accepting(self) -> None:
        self._is_closed = True

    async def close(self, within: float) -> None:
        """Wait for the outcomes of pending commits, up to `within` seconds; then disconnect."""
        self.stop_accepting()
        if pending := self.pending():
            await asyncio.wait([each.outcome for each in pending], timeout=within)
        if self._recovery is not None:
            # do not cancel a connection attempt: redis-py leaks cancelled connections
            await asyncio.wait([self._recovery], timeout=2 * CONNECT_TIMEOUT)
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.wait([self._recovery])
        if self._retry_timer is not None:
            self._retry_timer.cancel()
        self._disconnect()
        fail(self.pending(), "the connection is closed")

    # sending

    def _schedule_flush(self) -> None:
        if not self._is_active:
            self._is_active = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Send the next batch, unless one is in flight."""
        if self._in_flight or self._recovery is not None:
            return
        if not self._waiting and not self._resend:
            self._is_active = False
        elif self._connection is None:
            self._recover("not connected")
        else:
            batch = self._next_batch()
            self._in_flight = by_partition(batch) if self._hand_over else [batch]
            self._send(self._connection)

    def _next_batch(self) -> list[PendingCommit]:
        if self._resend:
            batch, self._resend = self._resend[:BATCH], self._resend[BATCH:]
            return batch
        waiting = self._waiting
        if len(waiting) <= BATCH:
            batch = list(waiting)
            waiting.clear()
            return batch
        return [waiting.popleft() for _ in range(BATCH)]

    def _send(self, connection: RequestConnection) -> None:
        """Send the calls in flight, for the first time or again."""
        calls = self._in_flight
        try:
            request = self._encoder.encode(calls, resent=calls[0][0].was_sent)
        except (TypeError, ValueError, OverflowError) as error:
            # cannot happen with a judged move; fail the batch instead of blocking the next one
            self._in_flight = []
            fail(chain.from_iterable(calls), f"a commit cannot be encoded: {error}")
            self._loop.call_soon(self._flush)
        else:
            connection.send(request, len(calls) + self._encoder.confirmations)
            self._on_batch(sum(map(len, calls)))

    # receiving

    def _on_replies(self, replies: list[Reply]) -> None:
        calls, self._in_flight = self._in_flight, []
        is_durable = len(replies) == len(calls) or is_confirmed(replies[len(calls) :])
        again: list[list[PendingCommit]] = []
        for call, answer in zip(calls, replies, strict=False):
            if isinstance(answer, hiredis.ReplyError):
                if self._is_to_be_repeated(call, str(answer)):
                    again.append(call)
            elif is_durable:
                _deliver(call, answer)
            else:
                again.append(call)
        if again:
            self._send_again(again, replies)
        elif self._waiting or self._resend:
            self._flush()
        else:
            self._is_active = False

    def _is_to_be_repeated(self, call: list[PendingCommit], error: str) -> bool:
        """Handle the error reply to a call; return whether to send it again at once.

        Some of a call's commits may be written although it failed.
        """
        if is_function_missing(error):
            # the Functions are loaded before the next connection is used
            self._disconnect()
            return True
        if is_transient(error):
            self._delay(call, error)
        else:
            fail(call, error)
        return False

    def _send_again(self, calls: list[list[PendingCommit]], replies: list[Reply]) -> None:
        # The mark for replicas is in the first call's slot, which may be moving to another primary:
        # begin with another call next time.
        self._in_flight = [*calls[1:], calls[0]]
        if errors := [str(each) for each in replies if isinstance(each, hiredis.ReplyError)]:
            self._recover(errors[0])
        else:  # WAIT has taken a second already, so no further pause is needed
            self._recover("no replica confirmed the write", _FIRST_PAUSE)

    def _delay(self, call: list[PendingCommit], error: str) -> None:
        """Send a call's commits again after a pause, to the primary that owns them then."""
        self._last_error = error
        for pending in call:
            pending.was_sent = True
        self._delayed += call
        self._primaries.refresh_soon()
        if self._retry_timer is None:
            self._retry_timer = self._loop.call_later(_RETRY_PAUSE, self._retry_delayed)

    def _retry_delayed(self) -> None:
        self._retry_timer = None
        delayed, self._delayed = self._delayed, []
        self._resend += self._keep_own(delayed)
        self._schedule_flush()

    # recovery

    def _on_lost(self, reason: str) -> None:
        self._connection = None
        self._recover(reason)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.abort()
            self._connection = None

    def _recover(self, reason: str, pause: float = _LONGEST_PAUSE) -> None:
        """Reconnect and continue; if there is a usable connection, continue after `pause` seconds."""
        self._is_active = True
        self._last_error = reason
        for pending in chain.from_iterable(self._in_flight):
            pending.was_sent = True
        if self._recovery is None:
            self._recovery = self._loop.create_task(self._run_recovery(pause))

    async def _run_recovery(self, pause: float) -> None:
        try:
            if self._connection is not None:
                await asyncio.sleep(pause)
            await self._reconnect()
        except (
            Exception
        ) as error:  # no caller may wait for ever; the next commit starts a new recovery
            _log.error("commits_failed", fault=error)
            self._disconnect()
            given_up = self.pending()
            self._in_flight, self._resend, self._waiting = [], [], deque()
            fail(given_up, str(error))
        self._recovery = None
        if self._in_flight and self._connection is not None:
            self._send(self._connection)
        else:
            self._flush()

    async def _reconnect(self) -> None:
        """Reconnect; return when there is a connection, or when none is needed any more."""
        pause = _FIRST_PAUSE
        await self._sort_pending()
        while self._connection is None and self._is_needed:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    transport = await self._connect(self._primary)
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
            await self._sort_pending()

    @property
    def _is_needed(self) -> bool:
        if self._in_flight or self._waiting or self._resend:
            return True
        return not self._is_closed and self._primary in self._primaries.all()

    async def _sort_pending(self) -> None:
        """Read the slot map again; keep commits that are in time and belong to this primary."""
        try:
            await self._primaries.refresh()
        except Exception as error:  # keep the slot map
            _log.error("slot_map_read_failed", fault=error)
        self._in_flight = [own for call in self._in_flight if (own := self._keep_own(call))]
        self._resend = self._keep_own(self._resend)
        self._waiting = deque(self._keep_own(self._waiting))

    def _keep_own(self, commits: Iterable[PendingCommit]) -> list[PendingCommit]:
        """Fail commits that are too late, hand over those of other primaries, and return the rest."""
        now = self._loop.time()
        own = []
        for pending in commits:
            if pending.outcome.done():
                continue
            if pending.deadline <= now:
                fail([pending], self._last_error)
            elif self._hand_over is None or self._owns(pending.commit.table):
                own.append(pending)
            else:
                self._hand_over(pending)
        return own

    def _owns(self, table: str) -> bool:
        return self._primaries.of_table(table) is self._primary


def _deliver(call: list[PendingCommit], answer: list[Any]) -> None:
    fours = zip(*[iter(answer)] * 4, strict=True)
    for pending, (status, length, at, number) in zip(call, fours, strict=True):
        outcome = pending.outcome
        if not outcome.done():
            outcome.set_result(CommitOutcome(_STATUSES[status], length, at, number))
