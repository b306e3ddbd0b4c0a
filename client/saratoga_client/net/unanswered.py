"""Commands that wait for their answers, under ids that only grow.

Does no I/O. What is still here when a connection is lost is sent again under the same id over the
next one: the house answers again what it has done already, and does it not again.
"""

from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeVar

from saratoga_protocol.commands import (
    AnyCommand,
    GetLeaderboard,
    GetRecord,
    ListTables,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
    UnwatchTable,
    WatchTable,
)

Waiter = TypeVar("Waiter")


class Draft(Protocol):
    """A command that lacks only its id, such as `partial(MakeMove, race=..., after=3, move="draw")`."""

    def __call__(self, *, id: int) -> AnyCommand: ...  # noqa: A002 - the wire's name


@dataclass(frozen=True, slots=True)
class Pending(Generic[Waiter]):
    """A command without an answer, and who waits for it."""

    command: AnyCommand
    waiter: Waiter


OWN_ID: Final = 1
"""For hellos and heartbeats, which change nothing: their ids only name the answer."""


QUESTIONS: Final = (GetRecord, GetLeaderboard, ListTables)
"""Commands that change nothing: it does not matter in which order they come."""


def _followed(command: AnyCommand) -> str:
    """What the command takes up or lets go of, and changes nothing else; or nothing.

    The house does not mind the order of these ids, but of two about the same the last one that it
    takes is the one that counts.
    """
    match command:
        case WatchTable(table=code) | UnwatchTable(table=code):
            return code
        case SubscribeLeaderboard() | UnsubscribeLeaderboard():
            return "the leaderboard"
        case _:
            return ""


class UnansweredCommands(Generic[Waiter]):
    """All commands without an answer."""

    def __init__(self) -> None:
        self._next_id = OWN_ID + 1
        self._latest = OWN_ID
        self._latest_about: dict[str, int] = {}
        self._pending: dict[int, Pending[Waiter]] = {}

    @property
    def next_id(self) -> int:
        return self._next_id

    def rise_to(self, next_id: int) -> None:
        """Use no id below `next_id` from now on: those were used before, elsewhere perhaps."""
        self._next_id = max(self._next_id, next_id)

    def take_id(self) -> int:
        """An id for a command that is not written down here."""
        taken = self._next_id
        self._next_id += 1
        return taken

    def open(self, draft: Draft, waiter: Waiter) -> AnyCommand:
        """Give the draft its id, and write it down."""
        command = draft(id=self.take_id())
        self._pending[command.id] = Pending(command, waiter)
        if followed := _followed(command):
            self._latest_about[followed] = command.id
        elif not isinstance(command, QUESTIONS):
            self._latest = command.id
        return command

    def find(self, command_id: int | None) -> Pending[Waiter] | None:
        return None if command_id is None else self._pending.get(command_id)

    def close(self, command_id: int) -> None:
        """Forget a command: it is answered, or nobody waits any more."""
        self._pending.pop(command_id, None)

    def is_latest(self, command_id: int) -> bool:
        """Whether no later command was written down: only then may it be sent again alone.

        The house takes commands in the order of their ids. Questions, and what is not written down
        (a seat taken up again), overtake nothing and are overtaken by nothing; what takes up a
        table or a leaderboard, or lets go of it, only by its like about the same.
        """
        pending = self._pending.get(command_id)
        if pending is None:
            return command_id == self._latest
        if followed := _followed(pending.command):
            return command_id == self._latest_about[followed]
        return isinstance(pending.command, QUESTIONS) or command_id == self._latest

    def unanswered(self) -> list[Pending[Waiter]]:
        """In the order of their ids, which is the order to send them again."""
        return [self._pending[command_id] for command_id in sorted(self._pending)]
