"""Commits: the moves of a turn of the event loop go to the store together, in one call.

One batch is in flight at a time; commits that arrive meanwhile make the next batch. A batch whose
reply was lost is sent again: the store finds the entries where they belong, and answers as it did
the first time. At level `replicated` a question follows each batch: how many replicas have it?
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final

import hiredis
import msgpack
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
from saratoga_server.store.client import (
    STORE_TIMEOUT,
    confirmation_commands,
    function_name,
    is_confirmed,
    is_function_missing,
    is_transient,
)
from saratoga_server.store.keys import race_key
from saratoga_server.store.link import Link, Reply, encode_command

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
_FUNCTION: Final = function_name("commit_boards")
_PACKER: Final = msgpack.Packer(use_bin_type=False)

_log = EventLog("store")

Connect = Callable[[], Awaitable[Link]]
"""A function that connects to the store, checks it, and loads our Functions into it."""


class PendingCommit(Struct, eq=False):
    """A commit that is waiting for its outcome."""

    commit: BoardCommit | None
    """`None`: nothing is written, only an answer is wanted."""
    outcome: asyncio.Future[CommitOutcome]
    deadline: float
    """The time at which the commit is given up, by the loop's clock."""


class Commits:
    """The commits to the boards of the store."""

    def __init__(self, connect: Connect, replicas: int, on_batch: Callable[[int], None]) -> None:
        """`replicas`: how many must have a commit before it is durable.

        `on_batch` observes the number of boards in each request.
        """
        self._connect = connect
        self._replicas = replicas
        commands = confirmation_commands(replicas)
        self._questions = b"".join(encode_command(*command) for command in commands)
        self._replies_due = 1 + len(commands)
        self._on_batch = on_batch
        self.has_written = False
        """True if a batch was sent since the guard of the store last looked."""
        self._loop = asyncio.get_running_loop()
        self._link: Link | None = None
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

    async def ask(self) -> None:
        """Wait for an answer on the connection that moves take. Raises `StoreUnavailable`."""
        await self.commit(None)

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
            self._recovery.cancel()
            await asyncio.wait([self._recovery])
        self._disconnect()
        _fail(self._pending(), "the connection is closed")

    # sending

    def commit(self, commit: BoardCommit | None) -> asyncio.Future[CommitOutcome]:
        """Send a commit; the future fails with `StoreUnavailable` if the outcome is unknown.

        Without a commit only an answer is wanted.
        """
        loop = self._loop
        outcome: asyncio.Future[CommitOutcome] = loop.create_future()
        pending = PendingCommit(commit, outcome, loop.time() + STORE_TIMEOUT)
        if self._is_closed:
            _fail([pending], "the connection is closed")
            return outcome
        self._waiting.append(pending)
        if not self._is_active:
            self._is_active = True
            loop.call_soon(self._flush)
        return outcome

    def _flush(self) -> None:
        """Send the next batch, unless one is in flight."""
        if self._in_flight or self._recovery is not None:
            return
        if not self._waiting:
            self._is_active = False
        elif self._link is None:
            self._recover("not connected")
        else:
            waiting = self._waiting
            self._in_flight = [waiting.popleft() for _ in range(min(len(waiting), BATCH))]
            self._send(self._link)

    def _send(self, link: Link) -> None:
        """Send the batch in flight, for the first time or again."""
        batch = self._in_flight
        try:
            commits = [each.commit for each in batch if each.commit is not None]
            request = encode_commits(commits) + self._questions
        except (TypeError, ValueError, OverflowError) as error:
            # cannot happen with a judged move; fail the batch instead of blocking the next one
            self._in_flight = []
            _fail(batch, f"a commit cannot be encoded: {error}")
            self._loop.call_soon(self._flush)
        else:
            link.request(request, self._replies_due, self._on_replies)
            if commits:
                self.has_written = True
                self._on_batch(len(commits))

    # receiving

    def _on_replies(self, replies: list[Reply]) -> None:
        answer, *confirmation = replies
        if isinstance(answer, hiredis.ReplyError):
            self._on_error(str(answer))
        elif self._replicas and not is_confirmed(confirmation, self._replicas):
            errors = [str(each) for each in confirmation if isinstance(each, hiredis.ReplyError)]
            if errors:
                self._recover(errors[0])
            else:  # WAIT has taken a second already, so no further pause is needed
                self._recover("too few replicas confirmed the write", _FIRST_PAUSE)
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
            _fail(batch, error)
            self._flush()

    # recovery

    def _on_lost(self, reason: str) -> None:
        self._link = None
        self._recover(reason)

    def _disconnect(self) -> None:
        if self._link is not None:
            self._link.abort()
            self._link = None

    def _recover(self, reason: str, pause: float = _LONGEST_PAUSE) -> None:
        """Reconnect and continue; after an error reply, `pause` seconds later.

        A new connection, because another process may have become the store's primary.
        """
        self._is_active = True
        self._last_error = reason
        if self._recovery is None:
            self._recovery = self._loop.create_task(self._run_recovery(pause))

    async def _run_recovery(self, pause: float) -> None:
        if self._link is not None:
            await asyncio.sleep(pause)
            self._disconnect()
        await self._reconnect()
        self._recovery = None
        if self._in_flight and self._link is not None:
            self._send(self._link)
        else:
            self._flush()

    async def _reconnect(self) -> None:
        """Reconnect; return when there is a connection, or when none is needed any more."""
        pause = _FIRST_PAUSE
        self._drop_late()
        while self._link is None and self._is_needed:
            try:
                async with asyncio.timeout(CONNECT_TIMEOUT):
                    link = await self._connect()
            except (StoreUnavailable, StoreRefused, RedisError, TimeoutError) as error:
                self._last_error = str(error) or "no connection in time"
            except Exception as error:  # after any error, try again
                _log.error("store_connect_failed", fault=error)
                self._last_error = str(error)
            else:
                if not link.is_lost:
                    link.on_lost = self._on_lost
                    self._link = link
                    return
                self._last_error = "the connection was lost"
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            self._drop_late()

    @property
    def _is_needed(self) -> bool:
        return bool(self._in_flight or self._waiting) or not self._is_closed

    def _pending(self) -> list[PendingCommit]:
        """Return every commit without an outcome."""
        return [each for each in (*self._in_flight, *self._waiting) if not each.outcome.done()]

    def _drop_late(self) -> None:
        """Fail the commits whose time is over."""
        now = self._loop.time()
        _fail((each for each in self._pending() if each.deadline <= now), self._last_error)
        self._in_flight = [each for each in self._in_flight if not each.outcome.done()]
        self._waiting = deque(each for each in self._waiting if not each.outcome.done())


def encode_commits(commits: Sequence[BoardCommit]) -> bytes:
    """Return the call for a batch, whose boards are one MessagePack argument.

    Raises `TypeError`, `ValueError` or `OverflowError` if a commit cannot be encoded.
    """
    places: dict[str, int] = {}
    boards = [
        (
            places.setdefault(race_key(commit.table, commit.race), len(places) + 1),
            commit.player,
            commit.epoch,
            commit.after,
            commit.banked,
            commit.state,
            commit.rises,
            commit.late,
            commit.entries,
            commit.head,
        )
        for commit in commits
    ]
    return encode_command("FCALL", _FUNCTION, len(places), *places, _PACKER.pack(boards))


def _fail(commits: Iterable[PendingCommit], reason: str) -> None:
    """Fail the commits that have no outcome yet with `StoreUnavailable`."""
    for pending in commits:
        if not pending.outcome.done():
            pending.outcome.set_exception(StoreUnavailable(f"the store took no commit: {reason}"))


def _deliver(batch: list[PendingCommit], answer: list[Any]) -> None:
    fives = zip(*[iter(answer)] * 5, strict=True)
    for pending in batch:
        outcome = pending.outcome
        if pending.commit is None:
            result = CommitOutcome(CommitStatus.DONE)
        else:
            status, length, at, number, racing = next(fives)
            result = CommitOutcome(_STATUSES[status], length, at, number, racing)
        if not outcome.done():
            outcome.set_result(result)
