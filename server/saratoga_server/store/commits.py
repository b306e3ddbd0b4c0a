"""Moves on their way to the disk: whatever one turn of the loop accepts goes in one request.

One connection, one batch in flight; what is judged meanwhile makes the next batch. A batch whose
reply got lost is sent again, marked as such: the store then answers as it did the first time.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import hiredis
import msgpack
from redis.exceptions import RedisError

from saratoga_server.ports import (
    BoardCommit,
    CommitOutcome,
    CommitStatus,
    Millis,
    StoreRefused,
    StoreUnavailable,
)
from saratoga_server.store.durability import Durability
from saratoga_server.store.keys import race_key
from saratoga_server.store.library import function_name
from saratoga_server.store.line import Line, Reply
from saratoga_server.store.link import REPLICA_MARK, REPLICA_TIMEOUT
from saratoga_server.store.trouble import is_function_missing, passes

BATCH: Final = 256
"""Boards in one request at most; a longer one would hold up the store's other work."""
PATIENCE: Final = 6.0
"""Seconds a commit may take in all: a store that is restarted loses nobody."""
REPLY_TIMEOUT: Final = 2.0
"""Seconds without a reply after which the connection is taken for dead."""
CONNECT_WITHIN: Final = 2.0
"""Seconds for one try to get a connection to a store that is fit for use."""

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.25
"""Seconds between tries."""
_RACES_REMEMBERED: Final = 20_000

_STATUSES: Final = tuple(CommitStatus)

Connect = Callable[[Line], Awaitable[None]]
"""Opens a line to a store that is fit for use and has our Functions."""

_Waiter = tuple[BoardCommit, asyncio.Future[CommitOutcome], float]
"""A commit, who awaits it, and until when (the loop's clock)."""


def _bulk(text: str) -> bytes:
    encoded = text.encode()
    return b"$%d\r\n%b\r\n" % (len(encoded), encoded)


class Commits:
    """`commit` appends to one board's log; many of them share a request."""

    def __init__(
        self,
        connect: Connect,
        durability: Durability = Durability.SAFE,
        on_batch: Callable[[int], None] = lambda boards: None,
    ) -> None:
        """`on_batch` is told how many boards went in each request."""
        self._connect = connect
        self._on_batch = on_batch
        self._packer = msgpack.Packer(use_bin_type=False)
        self._line: Line | None = None
        self._waiting: deque[_Waiter] = deque()
        self._flight: list[_Waiter] = []
        self._again = False
        """Whether the flight was sent before."""
        self._busy = False
        """Whether something will look at what is waiting."""
        self._sent_at = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._closed = False
        self._race_keys: dict[tuple[str, int], bytes] = {}
        self._command = b"$5\r\nFCALL\r\n" + _bulk(function_name("commit_boards"))
        self._heads: dict[int, bytes] = {}
        self._tail = b"\r\n"
        self._replies_due = self._replies = 1
        if durability is Durability.REPLICATED:
            self._replies_due = 3
            self._tail += (
                b"*3\r\n$3\r\nSET\r\n" + _bulk(REPLICA_MARK) + b"$1\r\n1\r\n"
                b"*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n" + _bulk(str(REPLICA_TIMEOUT))
            )
        self._answer: Reply = None
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Connect before the first commit comes."""
        self._recover("not connected")

    def submit(self, commit: BoardCommit) -> asyncio.Future[CommitOutcome]:
        """Put a commit on its way; the future fails with `StoreUnavailable`."""
        future: asyncio.Future[CommitOutcome] = self._loop.create_future()
        if self._closed:
            future.set_exception(StoreUnavailable("the store is closed"))
            return future
        self._waiting.append((commit, future, self._loop.time() + PATIENCE))
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._flush)
        return future

    async def commit(self, commit: BoardCommit) -> CommitOutcome:
        """Append to one board's log; durable when it returns."""
        return await self.submit(commit)

    async def close(self) -> None:
        """Let what is on its way arrive, within `PATIENCE`; then drop the connection."""
        self._closed = True
        on_their_way = [waiter[1] for waiter in (*self._flight, *self._waiting)]
        if on_their_way:
            await asyncio.wait(on_their_way, timeout=PATIENCE)
        if self._recovery is not None:
            # a connection that is being made is made first: redis-py leaks what is cancelled half-way
            await asyncio.wait([self._recovery], timeout=2 * CONNECT_WITHIN)
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.wait([self._recovery])
        if self._watch is not None:
            self._watch.cancel()
        self._drop_line()
        _fail([*self._flight, *self._waiting], "it is closed")

    # sending

    def _flush(self) -> None:
        waiting = self._waiting
        if self._flight or self._recovery is not None:
            return
        if not waiting:
            self._busy = False
        elif self._line is None:
            self._recover("not connected")
        else:
            if len(waiting) <= BATCH:
                self._flight = list(waiting)
                waiting.clear()
            else:
                self._flight = [waiting.popleft() for _ in range(BATCH)]
            self._again = False
            self._send()

    def _send(self) -> None:
        assert self._line is not None
        self._replies = self._replies_due
        self._sent_at = self._loop.time()
        if self._watch is None:
            self._watch = self._loop.call_at(self._sent_at + REPLY_TIMEOUT, self._look)
        try:
            request = self._request()
        except (TypeError, ValueError, OverflowError) as fault:
            # nothing the house judged looks like this; it must not hold up the moves behind it
            flight, self._flight = self._flight, []
            _fail(flight, f"a commit that cannot be packed: {fault}")
            self._loop.call_soon(self._flush)
        else:
            self._line.send(request)
            self._on_batch(len(self._flight))

    def _request(self) -> bytes:
        places: dict[bytes, int] = {}
        boards = []
        race_keys = self._race_keys
        for commit, _, _ in self._flight:
            at = (commit.table, commit.race)
            key = race_keys.get(at)
            if key is None:
                key = self._remember_race(at)
            boards.append(
                (
                    places.setdefault(key, len(places) + 1),
                    commit.player,
                    commit.epoch,
                    commit.command_id,
                    commit.after,
                    commit.banked,
                    commit.state,
                    commit.rises,
                    commit.late,
                    commit.entries,
                )
            )
        batch = self._packer.pack((self._again, boards))
        head = self._heads.get(len(places)) or self._remember_head(len(places))
        return b"".join((head, *places, b"$%d\r\n" % len(batch), batch, self._tail))

    def _remember_head(self, keys: int) -> bytes:
        """How a request with so many keys begins."""
        head = self._heads[keys] = b"*%d\r\n%b%b" % (keys + 4, self._command, _bulk(str(keys)))
        return head

    def _remember_race(self, at: tuple[str, int]) -> bytes:
        if len(self._race_keys) >= _RACES_REMEMBERED:
            self._race_keys.clear()
        key = self._race_keys[at] = _bulk(race_key(*at))
        return key

    # receiving

    def _on_reply(self, reply: Reply) -> None:
        if self._replies == self._replies_due:
            self._answer = reply
        self._replies -= 1
        if self._replies:
            return
        if isinstance(self._answer, hiredis.ReplyError):
            self._refused(str(self._answer))
        elif self._replies_due > 1 and (not isinstance(reply, int) or reply < 1):
            self._recover("no replica confirmed the write")
        else:
            self._deliver(self._answer)

    def _deliver(self, answer: list[int]) -> None:
        flight, self._flight = self._flight, []
        fours = zip(*[iter(answer)] * 4, strict=True)
        for (_, future, _), (status, length, at, number) in zip(flight, fours, strict=True):
            if not future.done():
                future.set_result(CommitOutcome(_STATUSES[status], length, Millis(at), number))
        if self._waiting:
            self._flush()
        else:
            self._busy = False

    def _refused(self, reason: str) -> None:
        """Nothing was written: an error reply stands for the whole batch."""
        if is_function_missing(reason):
            self._drop_line()
            self._recover(reason)
        elif passes(reason):
            self._recover(reason)
        else:
            flight, self._flight = self._flight, []
            _fail(flight, reason)
            self._flush()

    # trouble

    def _look(self) -> None:
        """Drop a connection that has not answered for too long."""
        self._watch = None
        if not self._flight or self._line is None:
            return
        until = self._sent_at + REPLY_TIMEOUT
        if self._loop.time() >= until:
            self._drop_line()
            self._recover("no reply in time")
        else:
            self._watch = self._loop.call_at(until, self._look)

    def _drop_line(self) -> None:
        if self._line is not None:
            self._line.abort()
            self._line = None

    def _on_lost(self, line: Line) -> None:
        if line is self._line:
            self._line = None
            self._recover("the connection was lost")

    def _recover(self, reason: str) -> None:
        self._busy = True
        if self._recovery is None:
            self._recovery = self._loop.create_task(self._come_back(reason))

    async def _come_back(self, reason: str) -> None:
        """Wait for a usable connection, then go on; give up whatever has waited for too long."""
        pause = _FIRST_PAUSE
        if self._line is not None:
            await asyncio.sleep(_LONGEST_PAUSE)
        self._give_up(reason)
        while self._line is None and (self._flight or self._waiting or not self._closed):
            line = Line(self._on_reply, self._on_lost)
            try:
                async with asyncio.timeout(CONNECT_WITHIN):
                    await self._connect(line)
                self._line = line if line.is_open else None
            except (StoreUnavailable, StoreRefused, RedisError, TimeoutError) as error:
                reason = str(error) or "no connection in time"
            finally:
                if self._line is not line:
                    line.abort()
            if self._line is None:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                self._give_up(reason)
        self._recovery = None
        if self._flight:
            self._again = True
            self._send()
        else:
            self._flush()

    def _give_up(self, reason: str) -> None:
        now = self._loop.time()
        late = [waiter for waiter in (*self._flight, *self._waiting) if waiter[2] <= now]
        _fail(late, reason)
        # a batch goes again as it was, unless nobody awaits any of it
        if all(future.done() for _, future, _ in self._flight):
            self._flight = []
        self._waiting = deque(waiter for waiter in self._waiting if waiter[2] > now)


def _fail(waiters: Iterable[_Waiter], reason: str) -> None:
    for _, future, _ in waiters:
        if not future.done():
            future.set_exception(StoreUnavailable(f"the store does not answer: {reason}"))
