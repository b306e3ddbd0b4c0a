"""Requests and their answers, and the queue of all other events. Does no I/O.

A request stays open until it is answered, also over several reconnections.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, TypeAlias

from saratoga_client.net.errors import ClientClosed, CommandRefused
from saratoga_client.net.subscriptions import Subscriptions
from saratoga_client.net.timing import Backoff
from saratoga_client.net.unanswered import Draft, Pending, UnansweredCommands
from saratoga_protocol import events
from saratoga_protocol.commands import Command, JoinTable
from saratoga_protocol.events import Event

LOG: Final = logging.getLogger("saratoga.connection")

MAX_UNREAD: Final = 4096
"""Maximum number of unread events; the oldest are dropped first."""

FAULT: Final = "server_fault"

MAX_RETRY_WAIT: Final = 5_000
"""The longest wait, in milliseconds, before a refused command is repeated.

A refusal that asks for a longer wait is raised.
"""

RETRY_FAILURES: Final = 3
"""The `failures` argument of `Backoff.wait` for the wait before a refused command is repeated."""

AnswerObserver: TypeAlias = Callable[[Command, Event], None]

Waiter: TypeAlias = "asyncio.Future[Event]"


class Requests:
    """The open requests of one connection, its subscriptions and its unread events."""

    def __init__(self, backoff: Backoff, send: Callable[[Command], None]) -> None:
        self._backoff = backoff
        self._send = send
        self._commands: UnansweredCommands[Waiter] = UnansweredCommands()
        self._unread: deque[Event | tuple[Command, Event]] = deque(maxlen=MAX_UNREAD)
        """What the reader has not reached: events, and answers with their commands for the observers."""
        self._changed = asyncio.Event()
        self._observers: list[AnswerObserver] = []
        self.subscriptions = Subscriptions()
        self.on_tables: Callable[[events.Tables], None] = lambda tables: None
        """Called with the list of public tables whenever it changes, if it is followed."""
        self.end: Exception | None = None
        """The error that ended the connection; `None` while reconnecting is possible."""

    def open(self, draft: Draft) -> tuple[Command, Waiter]:
        """Give a command its id; return the command and the future of its answer.

        Raise the error that ended the connection, if it has ended.
        """
        if self.end is not None:
            raise self.end
        waiter: Waiter = asyncio.get_running_loop().create_future()
        return self._commands.add(draft, waiter), waiter

    def forget(self, command: Command) -> None:
        """Drop a request whose answer is no longer awaited."""
        self._commands.remove(command.id)

    def fail_all(self, kind: type[Command], error: Exception) -> None:
        """Drop all open requests of one kind and raise the error where they are awaited."""
        for pending in self._commands.in_order():
            if isinstance(pending.command, kind):
                self._commands.remove(pending.command.id)
                if not pending.waiter.done():
                    pending.waiter.set_exception(error)

    def observe_answers(self, observer: AnswerObserver) -> Callable[[], None]:
        """Call the observer with every command and its answer, refusals included, in the order of all events.

        So the reader of `stream` and the observer see everything in the order in which it came. Returns a function
        that ends this.
        """
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def number(self, draft: Draft) -> Command:
        """Return a command with the next id, without waiting for an answer."""
        return draft(id=self._commands.take_id())

    def unanswered(self) -> list[Command]:
        """Return the commands to send again, in this order, over a new connection."""
        return [pending.command for pending in self._commands.in_order()]

    def is_joining(self, table: str) -> bool:
        """Test whether a command that takes the seat at that table is unanswered."""
        joins = (command for command in self.unanswered() if isinstance(command, JoinTable))
        return any(join.seat and join.table == table for join in joins)

    def receive(self, event: Event) -> None:
        """Complete the request that an event answers, or queue the event for the reader."""
        pending = self._commands.find(event.re)
        if pending is not None:
            self._answer(pending, event)
        elif type(event) is Event:
            LOG.debug("ignored an event of an unknown kind")
        elif isinstance(event, events.Refused) and event.re is None:
            LOG.warning("the server could not read a command: %s", event.message)
        elif not isinstance(event, events.Alive | events.Done | events.Refused):
            self.subscriptions.event_received(event)
            self.deliver(event)

    def deliver(self, event: Event) -> None:
        """Queue an event for the reader; the list of tables has a reader of its own."""
        if isinstance(event, events.Tables):
            self.on_tables(event)
            return
        self._unread.append(event)
        self._changed.set()

    async def stream(self) -> AsyncIterator[Event]:
        """Yield the events in the order in which they came, until the connection ends."""
        while True:
            while self._unread:
                unread = self._unread.popleft()
                if not isinstance(unread, tuple):
                    yield unread
                    continue
                for observer in tuple(self._observers):
                    observer(*unread)
            if isinstance(self.end, ClientClosed):
                return
            if self.end is not None:
                raise self.end
            self._changed.clear()
            await self._changed.wait()

    def finish(self, end: Exception) -> None:
        """End all requests and the stream of events with an error."""
        self.end = end
        for pending in self._commands.in_order():
            if not pending.waiter.done():
                pending.waiter.set_exception(end)
        self._changed.set()

    def _answer(self, pending: Pending[Waiter], event: Event) -> None:
        command, waiter = pending.command, pending.waiter
        if isinstance(event, events.Refused) and self._may_retry(event, command):
            wait = max(self._backoff.wait(RETRY_FAILURES), event.wait / 1000)
            asyncio.get_running_loop().call_later(wait, self._send_again, command)
            return
        self._commands.remove(command.id)
        if waiter.done():
            return
        if self._observers and not isinstance(event, events.Snapshot):
            self._unread.append((command, event))
            self._changed.set()
        if isinstance(event, events.Refused):
            waiter.set_exception(CommandRefused(event))
        else:
            self.subscriptions.command_answered(command, event)
            if isinstance(event, events.Snapshot):
                self.deliver(event)
            waiter.set_result(event)

    def _may_retry(self, refusal: events.Refused, command: Command) -> bool:
        # after a fault of the server, whoever sent the command decides whether to try again
        is_soon = refusal.retry and refusal.code != FAULT and refusal.wait <= MAX_RETRY_WAIT
        return is_soon and self._commands.is_latest(command.id)

    def _send_again(self, command: Command) -> None:
        if self._commands.find(command.id) is not None:
            self._send(command)
