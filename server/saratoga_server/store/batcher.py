"""Moves on their way to one primary: whatever one turn of the loop accepts goes in one request.

One connection, one batch in flight; what is judged meanwhile makes the next batch. A batch whose
reply got lost is sent again, marked as such: the store then answers as it did the first time. A
batch may hold several calls, of which each comes out by itself; those that have to go to another
primary by now are handed over.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from itertools import chain
from typing import Any, Final, Protocol

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
from saratoga_server.store.batches import Batches, Waiter
from saratoga_server.store.confirmations import confirmed
from saratoga_server.store.errors import is_function_missing, passes
from saratoga_server.store.line import Line, Reply
from saratoga_server.store_timeout import STORE_TIMEOUT

BATCH: Final = 256
"""Boards in one request at most; a longer one would hold up the store's other work."""
REPLY_TIMEOUT: Final = 2.0
"""Seconds without a reply after which the connection is taken for dead."""
CONNECT_WITHIN: Final = 2.0
"""Seconds for one try to get a connection to a store that is fit for use."""

_FIRST_PAUSE: Final = 0.01
_LONGEST_PAUSE: Final = 0.25
"""Seconds between tries."""

_STATUSES: Final = tuple(CommitStatus)

_log = EventLog("store")

Connect = Callable[[Line], Awaitable[None]]
"""Opens a line to a store that is fit for use and has our Functions."""
Split = Callable[[list[Waiter]], list[list[Waiter]]]
"""Makes calls of a flight."""


class Whereabouts(Protocol):
    """Which primary the moves go to."""

    @property
    def is_here(self) -> bool:
        """Whether any may go to this one at all."""
        ...

    async def look(self) -> None:
        """Find out where everything belongs by now."""
        ...

    def sort_out(self, waiters: list[Waiter], *, again: bool) -> list[Waiter]:
        """Send on those that belong elsewhere; returns the rest."""
        ...

    def put_off(self, waiters: list[Waiter]) -> bool:
        """See to calls that failed for a reason that passes; False: send them again yourself."""
        ...


class Alone:
    """The whereabouts in a store by itself: everything belongs here."""

    is_here = True

    async def look(self) -> None:
        """Nothing ever moves."""

    def sort_out(self, waiters: list[Waiter], *, again: bool) -> list[Waiter]:
        return waiters

    def put_off(self, waiters: list[Waiter]) -> bool:
        return False


class Batcher:
    """Commits of one primary's boards; many of them share a request."""

    def __init__(
        self,
        connect: Connect,
        batches: Batches,
        split: Split,
        whereabouts: Whereabouts,
        on_batch: Callable[[int], None],
    ) -> None:
        """`on_batch` is told how many boards went in each request."""
        self._connect = connect
        self._batches = batches
        self._split = split
        self._whereabouts = whereabouts
        self._on_batch = on_batch
        self._line: Line | None = None
        self._waiting: deque[Waiter] = deque()
        self._returned: list[Waiter] = []
        """Sent before, perhaps to another primary; they go first, and by themselves."""
        self._flight: list[list[Waiter]] = []
        """The calls under way."""
        self._again = False
        """Whether the flight was sent before."""
        self._busy = False
        """Whether something will look at what is waiting."""
        self._sent_at = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._recovery: asyncio.Task[None] | None = None
        self._closed = False
        self._replies: list[Any] = []
        self._replies_due = 1
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        """Connect before the first commit comes."""
        self._recover("not connected")

    def submit(self, commit: BoardCommit) -> asyncio.Future[CommitOutcome]:
        """Put a commit on its way; the future fails with `StoreUnavailable`."""
        loop = self._loop
        future: asyncio.Future[CommitOutcome] = loop.create_future()
        if self._closed:
            fail([(commit, future, 0.0)], "it is closed")
            return future
        self._waiting.append((commit, future, loop.time() + STORE_TIMEOUT))
        if not self._busy:
            self._busy = True
            loop.call_soon(self._flush)
        return future

    def take(self, waiters: Iterable[Waiter]) -> None:
        """Put commits on their way that somebody awaits already."""
        self._waiting += waiters
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._flush)

    def take_again(self, waiters: Iterable[Waiter]) -> None:
        """Put commits on their way that were sent before."""
        self._returned += waiters
        if not self._busy:
            self._busy = True
            self._loop.call_soon(self._flush)

    def under_way(self) -> list[Waiter]:
        """What nobody has been answered for."""
        return [*chain.from_iterable(self._flight), *self._returned, *self._waiting]

    def shut(self) -> None:
        """Take no commits any more."""
        self._closed = True

    async def close(self, within: float = 0.0) -> None:
        """Let what is on its way arrive, within so many seconds; then drop the connection."""
        self.shut()
        on_their_way = [waiter[1] for waiter in self.under_way()]
        if on_their_way:
            await asyncio.wait(on_their_way, timeout=within)
        if self._recovery is not None:
            # a connection that is being made is made first: redis-py leaks what is cancelled half-way
            await asyncio.wait([self._recovery], timeout=2 * CONNECT_WITHIN)
        if self._recovery is not None:
            self._recovery.cancel()
            await asyncio.wait([self._recovery])
        if self._watch is not None:
            self._watch.cancel()
        self._drop_line()
        fail(self.under_way(), "it is closed")

    # sending

    def _flush(self) -> None:
        if self._flight or self._recovery is not None:
            return
        waiting = self._waiting
        if not waiting and not self._returned:
            self._busy = False
        elif self._line is None:
            self._recover("not connected")
        else:
            self._again = bool(self._returned)
            if self._returned:
                taken, self._returned = self._returned[:BATCH], self._returned[BATCH:]
            elif len(waiting) <= BATCH:
                taken = list(waiting)
                waiting.clear()
            else:
                taken = [waiting.popleft() for _ in range(BATCH)]
            self._flight = self._split(taken)
            self._send()

    def _send(self) -> None:
        assert self._line is not None
        self._replies = []
        self._replies_due = len(self._flight) + self._batches.questions
        self._sent_at = self._loop.time()
        if self._watch is None:
            self._watch = self._loop.call_at(self._sent_at + REPLY_TIMEOUT, self._look)
        try:
            request = self._batches.request(self._flight, again=self._again)
        except (TypeError, ValueError, OverflowError) as fault:
            # nothing the house judged looks like this; it must not hold up the moves behind it
            flight, self._flight = self._flight, []
            for call in flight:
                fail(call, f"a commit that cannot be packed: {fault}")
            self._loop.call_soon(self._flush)
        else:
            self._line.send(request)
            self._on_batch(sum(map(len, self._flight)))

    # receiving

    def _on_reply(self, reply: Reply) -> None:
        self._replies.append(reply)
        if len(self._replies) < self._replies_due:
            return
        calls = len(self._flight)
        answers, self._replies = self._replies[:calls], self._replies[calls:]
        if self._replies and not confirmed(self._replies):
            self._unconfirmed(answers, self._replies)
            return
        flight, self._flight = self._flight, []
        failed: list[tuple[list[Waiter], str]] = []
        for call, answer in zip(flight, answers, strict=True):
            if isinstance(answer, hiredis.ReplyError):
                failed.append((call, str(answer)))
            else:
                self._deliver(call, answer)
        if failed:
            self._refused(failed)
        elif self._waiting or self._returned:
            self._flush()
        else:
            self._busy = False

    def _deliver(self, call: list[Waiter], answer: list[Any]) -> None:
        fours = zip(*[iter(answer)] * 4, strict=True)
        for (_, future, _), (status, length, at, number) in zip(call, fours, strict=True):
            if not future.done():
                future.set_result(CommitOutcome(_STATUSES[status], length, at, number))

    def _refused(self, failed: list[tuple[list[Waiter], str]]) -> None:
        """What is not answered comes again; some of a call may be written nevertheless."""
        reason = ""
        for call, error in failed:
            if is_function_missing(error):
                self._drop_line()
            elif not passes(error):
                fail(call, error)
                continue
            elif self._whereabouts.put_off(call):
                continue
            reason = error
            self._flight.append(call)
        if self._flight:
            self._recover(reason)
        else:
            self._flush()

    def _unconfirmed(self, answers: list[Any], confirmations: list[Any]) -> None:
        """All of it comes again; what belongs elsewhere by now holds up nothing here.

        The mark lies in the first call's slot, and may be on its way to another primary: the next
        question is asked with that of another call that was written.
        """
        flight, self._flight = self._flight, []
        written: list[list[Waiter]] = []
        failed: list[list[Waiter]] = []
        for call, answer in zip(flight, answers, strict=True):
            error = str(answer) if isinstance(answer, hiredis.ReplyError) else ""
            if is_function_missing(error):
                self._drop_line()
            if not error:
                written.append(call)
            elif not passes(error) or not self._whereabouts.put_off(call):
                failed.append(call)
        self._flight = [*written[1:], *written[:1], *failed]
        if self._flight:
            replies = (*answers, *confirmations)
            if errors := [str(each) for each in replies if isinstance(each, hiredis.ReplyError)]:
                self._recover(errors[0])
            else:  # the replicas were waited for: that was the pause
                self._recover("no replica confirmed the write", _FIRST_PAUSE)
        else:
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

    def _recover(self, reason: str, rest: float = _LONGEST_PAUSE) -> None:
        """Go on when there is a usable connection; where there is one, after `rest` seconds."""
        self._busy = True
        if self._recovery is None:
            self._recovery = self._loop.create_task(self._come_back(reason, rest))
            self._recovery.add_done_callback(self._came_back)

    def _came_back(self, recovery: asyncio.Task[None]) -> None:
        """Whatever stopped a recovery, nobody waits for ever, and the next move begins anew."""
        if recovery.cancelled() or (fault := recovery.exception()) is None:
            return
        _log.error("moves_given_up", fault=fault)
        lost = self.under_way()
        self._flight, self._returned, self._waiting = [], [], deque()
        self._drop_line()
        self._busy = False
        if self._recovery is recovery:
            self._recovery = None
        fail(lost, str(fault))

    async def _come_back(self, reason: str, rest: float) -> None:
        """Wait for a usable connection, then go on; give up whatever has waited for too long."""
        pause = _FIRST_PAUSE
        if self._line is not None:
            await asyncio.sleep(rest)
        await self._sort_out(reason)
        while self._line is None and self._is_wanted:
            line = Line(self._on_reply, self._on_lost)
            try:
                async with asyncio.timeout(CONNECT_WITHIN):
                    await self._connect(line)
                self._line = line if line.is_open else None
            except (StoreUnavailable, StoreRefused, RedisError, TimeoutError) as error:
                reason = str(error) or "no connection in time"
            except Exception as fault:  # the edge: whatever one try comes to, the next one is made
                _log.error("not_connected", fault=fault)
                reason = str(fault)
            finally:
                if self._line is not line:
                    line.abort()
            if self._line is None:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                await self._sort_out(reason)
        self._recovery = None
        if self._flight:
            self._again = True
            self._send()
        else:
            self._flush()

    @property
    def _is_wanted(self) -> bool:
        if self._flight or self._waiting or self._returned:
            return True
        return not self._closed and self._whereabouts.is_here

    async def _sort_out(self, reason: str) -> None:
        """Fail what has waited for too long, send on what belongs elsewhere, keep the rest."""
        try:
            await self._whereabouts.look()
        except Exception as fault:  # the edge: then everything is where it was
            _log.error("whereabouts_unknown", fault=fault)
        now = self._loop.time()
        fail([waiter for waiter in self.under_way() if waiter[2] <= now], reason)
        sort_out = self._whereabouts.sort_out
        # a call goes again as it was, unless nobody awaits any of it
        live = [call for call in self._flight if not all(future.done() for _, future, _ in call)]
        self._flight = [kept for call in live if (kept := sort_out(call, again=True))]
        self._returned = sort_out([each for each in self._returned if each[2] > now], again=True)
        waiting = [waiter for waiter in self._waiting if waiter[2] > now]
        self._waiting = deque(sort_out(waiting, again=False))


def fail(waiters: Iterable[Waiter], reason: str) -> None:
    """Tell those who still wait that it is not known what became of their commits."""
    for _, future, _ in waiters:
        if not future.done():
            future.set_exception(StoreUnavailable(f"the store does not answer: {reason}"))
