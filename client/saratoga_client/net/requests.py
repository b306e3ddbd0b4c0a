"""Requests and their answers, the events for the reader, and what a new connection restores. Does no I/O.

A request stays open until it is answered, also over several reconnections.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from saratoga_client.net.errors import ClientClosed, CommandRefused
from saratoga_client.net.timing import Backoff
from saratoga_protocol import events
from saratoga_protocol.commands import (
    Command,
    CreateTable,
    EnterOpen,
    GetLeaderboard,
    GetPar,
    GetRecord,
    JoinTable,
    LeaveTable,
    ListTables,
)
from saratoga_protocol.events import Event

LOG: Final = logging.getLogger("saratoga.connection")

OWN_ID: Final = 1
"""The id of hellos and heartbeats."""

MAX_UNREAD: Final = 4096
"""Maximum number of unread events; the oldest are dropped first."""

FAULT: Final = "server_fault"

MAX_RETRY_WAIT: Final = 5_000
"""The longest wait, in milliseconds, before a refused command is repeated.

A refusal that asks for a longer wait is raised.
"""

RETRY_FAILURES: Final = 3
"""The `failures` argument of `Backoff.wait` for the wait before a refused command is repeated."""

Draft: TypeAlias = Callable[..., Command]
"""A command without its id, such as `partial(MakeMove, race=..., after=3, move="draw")`."""

AnswerObserver: TypeAlias = Callable[[Command, Event], None]


class Pending(NamedTuple):
    """An unanswered command and the future of its answer."""

    command: Command
    waiter: "asyncio.Future[Event]"


class Requests:
    """The open requests of one connection, its seat and subscriptions, and its unread events."""

    def __init__(self, backoff: Backoff, send: Callable[[Command], None]) -> None:
        self._backoff = backoff
        self._send = send
        self._last_id = OWN_ID
        self._pending: dict[int, Pending] = {}
        """The unanswered commands by id, the order in which to send them again."""
        self._latest: dict[object, int] = {}
        """The id of the newest command of each `_order_of`."""
        self._unread: deque[Event | tuple[Command, Event]] = deque(maxlen=MAX_UNREAD)
        """What the reader has not reached: events, and answers with their commands for the observers."""
        self._changed = asyncio.Event()
        self.on_answer: AnswerObserver = lambda command, answer: None
        """Called with every command and its answer, refusals included, when the reader of `stream` reaches it."""
        self.seat: str | None = None
        """The code of the table where the player has a seat."""
        self._followed: dict[str | type[Command], Command] = {}
        """The commands that watch a table, by its code, and that follow a list, by their class."""
        self.on_tables: Callable[[events.Tables], None] = lambda tables: None
        """Called with the list of public tables whenever it changes, if it is followed."""
        self.end: Exception | None = None
        """The error that ended the connection; `None` while reconnecting is possible."""

    def open(self, draft: Draft) -> Pending:
        """Give a command its id and keep it until it is answered.

        Raise the error that ended the connection, if it has ended.
        """
        if self.end is not None:
            raise self.end
        command = self.number(draft)
        pending = Pending(command, asyncio.get_running_loop().create_future())
        self._pending[command.id] = pending
        self._latest[_order_of(command)] = command.id
        return pending

    def number(self, draft: Draft) -> Command:
        """Return a command with the next id, without waiting for an answer."""
        self._last_id += 1
        return draft(id=self._last_id)

    def forget(self, command: Command) -> None:
        """Drop a request whose answer is no longer awaited."""
        self._pending.pop(command.id, None)

    def unanswered(self) -> list[Command]:
        """Return the commands to send again, in this order, over a new connection."""
        return [command for command, waiter in self._pending.values() if not waiter.done()]

    def restoring(self) -> list[Draft]:
        """Return the commands that restore seat and subscriptions on a new connection, the seat first."""
        seat = [] if self.seat is None else [partial(JoinTable, table=self.seat)]
        return [*seat, *(partial(replace, command) for command in self._followed.values())]

    def only_watches(self, code: str) -> bool:
        """Test whether the player watches that table and has not asked for a seat there."""
        is_joining = any(
            isinstance(command, JoinTable) and command.seat and command.table == code
            for command in self.unanswered()
        )
        return code in self._followed and not is_joining

    def receive(self, event: Event) -> None:
        """Complete the request that an event answers, or queue the event for the reader."""
        pending = self._pending.get(event.re or 0)
        if pending is not None:
            self._answer(pending, event)
        elif type(event) is Event:
            LOG.debug("ignored an event of an unknown kind")
        elif isinstance(event, events.Refused) and event.re is None:
            LOG.warning("the server could not read a command: %s", event.message)
        elif not isinstance(event, events.Alive | events.Done | events.Refused):
            if isinstance(event, events.SeatLost):
                self._lose(event.table)
            self.deliver(event)

    def carried_out(self, command: Command, answer: Event) -> None:
        """Update the seat and subscriptions from a command that the server has carried out."""
        match command, answer:
            case (JoinTable(table=code, seat=False), events.Snapshot()) if code != self.seat:
                self._followed[code] = command
            case ((CreateTable() | EnterOpen() | JoinTable()), events.Snapshot(table=table)):
                self.seat = table.code
                self._followed.pop(table.code, None)
            case LeaveTable(table=code), _:
                self._lose(code)
            case ((GetLeaderboard() | ListTables()), _):
                self._followed.pop(type(command), None)
                if command.follow:
                    self._followed[type(command)] = command
            case _:
                pass

    def deliver(self, event: Event) -> None:
        """Queue an event for the reader; the list of tables has a reader of its own."""
        if isinstance(event, events.Tables):
            self.on_tables(event)
        else:
            self._queue(event)

    async def stream(self) -> AsyncIterator[Event]:
        """Yield the events in the order in which they came, until the connection ends."""
        while True:
            while self._unread:
                unread = self._unread.popleft()
                if isinstance(unread, tuple):
                    self.on_answer(*unread)
                else:
                    yield unread
            if isinstance(self.end, ClientClosed):
                return
            if self.end is not None:
                raise self.end
            self._changed.clear()
            await self._changed.wait()

    def finish(self, end: Exception) -> None:
        """End all requests and the stream of events with an error."""
        self.end = end
        for _, waiter in self._pending.values():
            if not waiter.done():
                waiter.set_exception(end)
        self._changed.set()

    def _queue(self, unread: Event | tuple[Command, Event]) -> None:
        self._unread.append(unread)
        self._changed.set()

    def _lose(self, code: str) -> None:
        """Remove the seat at that table, or the subscription to it."""
        if self.seat == code:
            self.seat = None
        self._followed.pop(code, None)

    def _answer(self, pending: Pending, event: Event) -> None:
        command, waiter = pending
        if isinstance(event, events.Refused) and self._may_retry(event, command):
            wait = max(self._backoff.wait(RETRY_FAILURES), event.wait / 1000)
            asyncio.get_running_loop().call_later(wait, self._send_again, command)
            return
        self.forget(command)
        if waiter.done():
            return
        if not isinstance(event, events.Snapshot):
            self._queue((command, event))
        if isinstance(event, events.Refused):
            waiter.set_exception(CommandRefused(event))
            return
        self.carried_out(command, event)
        if isinstance(event, events.Snapshot):
            self.deliver(event)
        waiter.set_result(event)

    def _may_retry(self, refusal: events.Refused, command: Command) -> bool:
        """Test whether to send a refused command again alone; a repeat must not undo a newer choice."""
        # after a fault of the server, whoever sent the command decides whether to try again
        is_soon = refusal.retry and refusal.code != FAULT and refusal.wait <= MAX_RETRY_WAIT
        order = _order_of(command)
        return is_soon and (order is None or self._latest[order] == command.id)

    def _send_again(self, command: Command) -> None:
        if command.id in self._pending:
            self._send(command)


def _order_of(command: Command) -> object:
    """Return what a command has in common with those whose order counts; `None` if its order does not matter.

    Of the commands on one table's seat, or on one list that is followed, the last one received
    counts.
    """
    match command:
        case JoinTable(table=code) | LeaveTable(table=code):
            return code
        case GetLeaderboard(follow=True) | ListTables(follow=True):
            return type(command)
        case GetPar() | GetRecord() | GetLeaderboard() | ListTables():
            return None
        case _:
            return Command
