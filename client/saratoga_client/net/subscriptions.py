"""The seat, the watched tables and the leaderboard that a connection restores after reconnecting."""

from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from saratoga_client.net.unanswered import Draft
from saratoga_protocol.commands import (
    Command,
    CreateTable,
    GetLeaderboard,
    JoinTable,
    LeaveTable,
    ListTables,
)
from saratoga_protocol.events import Event, Leaderboard, SeatLost, Snapshot, Tables


@dataclass(slots=True)
class Subscriptions:
    """The player's seat and subscriptions, updated from answers and events. Does no I/O."""

    seat: str | None = None
    """The code of the table where the player has a seat."""
    watched: dict[str, None] = field(default_factory=dict)
    """The codes of the tables watched without a seat, oldest first; the values are unused."""
    leaderboard: GetLeaderboard | None = None
    """The followed page of a leaderboard."""
    tables: ListTables | None = None
    """The command that follows the list of public tables."""

    def command_answered(self, command: Command, answer: Event) -> None:
        """Update the seat and subscriptions from a command that the server has carried out."""
        match command, answer:
            case (JoinTable(table=code, seat=False), Snapshot()) if code != self.seat:
                self.watched[code] = None
            case ((CreateTable() | JoinTable()), Snapshot(table=table)):
                self.seat = table.code
                self.watched.pop(table.code, None)
            case LeaveTable(table=code), _:
                self.lose(code)
            case GetLeaderboard(), Leaderboard():
                self.leaderboard = command if command.follow else None
            case ListTables(), Tables():
                self.tables = command if command.follow else None
            case _:
                pass

    def event_received(self, event: Event) -> None:
        """Update the seat and subscriptions from an event that answers no command."""
        if isinstance(event, SeatLost):
            self.lose(event.table)

    def lose(self, code: str) -> None:
        """Remove the seat at that table, or the subscription to it."""
        if self.seat == code:
            self.seat = None
        self.watched.pop(code, None)

    def restoring_commands(self) -> list[Draft]:
        """Return the commands that restore everything on a new connection, the seat first."""
        drafts: list[Draft] = []
        if self.seat is not None:
            drafts.append(partial(JoinTable, table=self.seat))
        drafts.extend(partial(JoinTable, table=code, seat=False) for code in self.watched)
        followed = [each for each in (self.leaderboard, self.tables) if each is not None]
        drafts.extend(partial(_renumbered, each) for each in followed)
        return drafts


def _renumbered(former: Command, *, id: int) -> Command:  # noqa: A002
    return replace(former, id=id)
