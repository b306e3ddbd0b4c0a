"""What a connection has taken up: a seat, a watched table, a leaderboard.

Does no I/O. After a connection was lost, `taken_up` says what to ask the house for again.
"""

from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from saratoga_client.net.unanswered import Draft
from saratoga_protocol.commands import (
    AnyCommand,
    CreateTable,
    JoinTable,
    LeaveTable,
    Resume,
    SubscribeLeaderboard,
    UnsubscribeLeaderboard,
    UnwatchTable,
    WatchTable,
)
from saratoga_protocol.events import AnyEvent, Leaderboard, SeatLost, Snapshot


@dataclass(slots=True)
class Subscriptions:
    """Kept up by every answer and every event."""

    seat: str | None = None
    """The code of the table where the player sits."""
    watched: dict[str, None] = field(default_factory=dict)
    """Codes of tables watched without a seat, in the order in which they were taken up."""
    leaderboard: SubscribeLeaderboard | None = None

    def answered(self, command: AnyCommand, answer: AnyEvent) -> None:
        """A command was carried out."""
        match command, answer:
            case ((CreateTable() | JoinTable() | Resume()), Snapshot(table=table)):
                self.seat = table.code
                self.watched.pop(table.code, None)
            case LeaveTable(table=code), _:
                self.lost(code)
            case WatchTable(table=code), Snapshot():
                self.watched[code] = None
            case UnwatchTable(table=code), _:
                self.watched.pop(code, None)
            case SubscribeLeaderboard(), Leaderboard():
                self.leaderboard = command
            case UnsubscribeLeaderboard(), _:
                self.leaderboard = None
            case _:
                pass

    def heard(self, event: AnyEvent) -> None:
        """The house said something unasked."""
        if isinstance(event, SeatLost):
            self.lost(event.table)

    def has(self, code: str) -> bool:
        """Whether that table is followed, from a seat or beside it."""
        return code == self.seat or code in self.watched

    def lost(self, code: str) -> None:
        """The seat at that table, or the sight of it, is gone."""
        if self.seat == code:
            self.seat = None
        self.watched.pop(code, None)

    def taken_up(self) -> list[Draft]:
        """The commands that take everything up again over a new connection, the seat first."""
        drafts: list[Draft] = []
        if self.seat is not None:
            drafts.append(partial(Resume, table=self.seat))
        drafts.extend(partial(WatchTable, table=code) for code in self.watched)
        if self.leaderboard is not None:
            drafts.append(partial(_subscription, self.leaderboard))
        return drafts


def _subscription(former: SubscribeLeaderboard, *, id: int) -> SubscribeLeaderboard:  # noqa: A002
    return replace(former, id=id)
