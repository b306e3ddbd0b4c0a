"""Unanswered commands, which are sent again over the next connection. Does no I/O."""

from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from saratoga_protocol.commands import (
    Command,
    GetLeaderboard,
    GetRecord,
    JoinTable,
    LeaveTable,
    ListTables,
)

Waiter = TypeVar("Waiter")


class Draft(Protocol):
    """A command without its id, such as `partial(MakeMove, race=..., after=3, move="draw")`."""

    def __call__(self, *, id: int) -> Command: ...  # noqa: A002 - the wire's name


@dataclass(frozen=True, slots=True)
class Pending(Generic[Waiter]):
    """An unanswered command and the object that waits for its answer."""

    command: Command
    waiter: Waiter


OWN_ID: Final = 1
"""The id of hellos and heartbeats."""

QUERIES: Final = (GetRecord, GetLeaderboard, ListTables)
"""Commands that change nothing, so that their order does not matter."""


def _subscription_of(command: Command) -> str:
    """Return the name of the seat or subscription that a command begins or ends; empty for other commands.

    Of several commands on one subscription, the last one received counts.
    """
    match command:
        case JoinTable(table=code) | LeaveTable(table=code):
            return code
        case GetLeaderboard(follow=True):
            return "leaderboard"
        case ListTables(follow=True):
            return "tables"
        case _:
            return ""


class UnansweredCommands(Generic[Waiter]):
    """The unanswered commands of one connection, by id."""

    def __init__(self) -> None:
        self._next_id = OWN_ID + 1
        self._latest = OWN_ID
        self._latest_by_subscription: dict[str, int] = {}
        self._pending: dict[int, Pending[Waiter]] = {}

    def take_id(self) -> int:
        """Return the next id, for a command that is not in this collection."""
        taken = self._next_id
        self._next_id += 1
        return taken

    def add(self, draft: Draft, waiter: Waiter) -> Command:
        """Give the draft its id and keep the command until it is answered."""
        command = draft(id=self.take_id())
        self._pending[command.id] = Pending(command, waiter)
        if subscription := _subscription_of(command):
            self._latest_by_subscription[subscription] = command.id
        elif not isinstance(command, QUERIES):
            self._latest = command.id
        return command

    def find(self, command_id: int | None) -> Pending[Waiter] | None:
        return None if command_id is None else self._pending.get(command_id)

    def remove(self, command_id: int) -> None:
        """Remove a command that is answered or no longer awaited."""
        self._pending.pop(command_id, None)

    def is_latest(self, command_id: int) -> bool:
        """Test whether a command can be sent again alone, without repeating later commands after it.

        A repeat must not undo a newer choice. Queries, and commands that are not kept here (`JoinTable` after
        reconnecting), are exempt. Commands on a subscription are ordered only among those on the same one.
        """
        pending = self._pending.get(command_id)
        if pending is None:
            return command_id == self._latest
        if subscription := _subscription_of(pending.command):
            return command_id == self._latest_by_subscription[subscription]
        return isinstance(pending.command, QUERIES) or command_id == self._latest

    def in_order(self) -> list[Pending[Waiter]]:
        """Return all unanswered commands by id, the order in which to send them again."""
        return [self._pending[command_id] for command_id in sorted(self._pending)]
