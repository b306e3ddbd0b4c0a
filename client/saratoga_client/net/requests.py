"""Who gets what the house says: the one who asked, or the reader of events.

Does no I/O: frames are made and read elsewhere. Commands are written down here until they are
answered, however many connections that takes.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, TypeAlias

from saratoga_client.net.backoff import Backoff
from saratoga_client.net.errors import ClientClosed, CommandRefused, UnexpectedAnswer
from saratoga_client.net.subscriptions import Subscriptions
from saratoga_client.net.unanswered import Draft, Pending, UnansweredCommands
from saratoga_protocol import events
from saratoga_protocol.codec import UnknownEvent
from saratoga_protocol.commands import AnyCommand, LeaveTable
from saratoga_protocol.events import AnyEvent

LOG: Final = logging.getLogger("saratoga.connection")

MOST_UNREAD: Final = 4096
"""Events kept for a program that does not read them; then the oldest fall out."""

SENT_AGAIN: Final = frozenset({"store_unavailable", "draining", "too_fast"})
"""Refusals after which the same command under the same id is right, and soon."""

LONGEST_WAIT: Final = 5_000
"""Milliseconds; who would have to wait longer is told so."""

PAUSE: Final = 3
"""Failures' worth of backing off before such a command is sent again."""

Waiter: TypeAlias = "asyncio.Future[AnyEvent]"


class Requests:
    """All that a program and the house have open with each other."""

    def __init__(self, backoff: Backoff, send: Callable[[AnyCommand], None]) -> None:
        self._backoff = backoff
        self._send = send
        self._book: UnansweredCommands[Waiter] = UnansweredCommands()
        self._inbox: deque[AnyEvent] = deque(maxlen=MOST_UNREAD)
        self._news = asyncio.Event()
        self.following = Subscriptions()
        self.end: Exception | None = None
        """Why it is over for good."""

    def open(self, draft: Draft) -> tuple[AnyCommand, Waiter]:
        """Give a command its id; its answer, or why there will be none, comes to the waiter."""
        if self.end is not None:
            raise self.end
        waiter: Waiter = asyncio.get_running_loop().create_future()
        return self._book.open(draft, waiter), waiter

    def forget(self, command: AnyCommand) -> None:
        """Nobody waits for the answer any more."""
        self._book.close(command.id)

    def give_up(self, kind: type[AnyCommand], trouble: Exception) -> None:
        """Ask no more what was asked by commands of this kind: whoever waits learns why."""
        for pending in self._book.unanswered():
            if isinstance(pending.command, kind):
                self._book.close(pending.command.id)
                if not pending.waiter.done():
                    pending.waiter.set_exception(trouble)

    def number(self, draft: Draft) -> AnyCommand:
        """Give a command its id without writing it down."""
        return draft(id=self._book.take_id())

    def rise_to(self, next_id: int) -> None:
        """The house has seen ids up to there."""
        self._book.rise_to(next_id)

    def unanswered(self) -> list[AnyCommand]:
        """To be sent again, in this order, over a new connection."""
        return [pending.command for pending in self._book.unanswered()]

    def is_leaving(self, table: str) -> bool:
        """Whether the seat at that table is being given up."""
        leaves = (command for command in self.unanswered() if isinstance(command, LeaveTable))
        return any(leave.table == table for leave in leaves)

    def hear(self, event: AnyEvent | UnknownEvent) -> None:
        """The house said something."""
        pending = self._book.find(event.re)
        if pending is not None:
            self._answer(pending, event)
        elif isinstance(event, UnknownEvent):
            LOG.debug("passed over an event of the unknown kind %s", event.type)
        elif isinstance(event, events.Refused) and event.re is None:
            LOG.warning("the house refused what it could not read: %s", event.message)
        elif not isinstance(event, events.Alive | events.Done | events.Refused):
            self.following.heard(event)
            self.deliver(event)

    def deliver(self, event: AnyEvent) -> None:
        """Lay an event before the reader."""
        if isinstance(event, events.Snapshot):
            self.rise_to(event.next_id)
        self._inbox.append(event)
        self._news.set()

    async def inbox(self) -> AsyncIterator[AnyEvent]:
        """Events in the order in which they came, until the end."""
        while True:
            while self._inbox:
                yield self._inbox.popleft()
            if isinstance(self.end, ClientClosed):
                return
            if self.end is not None:
                raise self.end
            self._news.clear()
            await self._news.wait()

    def finish(self, end: Exception) -> None:
        """It is over for good: whoever waits learns why."""
        self.end = end
        for pending in self._book.unanswered():
            if not pending.waiter.done():
                pending.waiter.set_exception(end)
        self._news.set()

    def _answer(self, pending: Pending[Waiter], event: AnyEvent | UnknownEvent) -> None:
        command, waiter = pending.command, pending.waiter
        if isinstance(event, events.Refused) and self._is_worth_sending_again(event, command):
            wait = max(self._backoff.wait(PAUSE), event.wait / 1000)
            asyncio.get_running_loop().call_later(wait, self._send_again, command)
            return
        self._book.close(command.id)
        if waiter.done():
            return
        if isinstance(event, UnknownEvent):
            waiter.set_exception(UnexpectedAnswer(f"the unknown event {event.type}"))
        elif isinstance(event, events.Refused):
            waiter.set_exception(CommandRefused(event))
        else:
            self.following.answered(command, event)
            if isinstance(event, events.Snapshot):
                self.deliver(event)
            waiter.set_result(event)

    def _is_worth_sending_again(self, no: events.Refused, command: AnyCommand) -> bool:
        is_soon = no.code in SENT_AGAIN and no.wait <= LONGEST_WAIT
        return is_soon and self._book.is_latest(command.id)

    def _send_again(self, command: AnyCommand) -> None:
        if self._book.find(command.id) is not None:
            self._send(command)
