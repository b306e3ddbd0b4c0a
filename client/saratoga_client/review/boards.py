"""The boards of a finished race, with every position and its time."""

from bisect import bisect_right
from dataclasses import dataclass

from saratoga_client.review.climb import Climb
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.replay import steps
from saratoga_rules.records.standing import State


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBoard:
    """A racer's board in a finished race, from the deal to its end."""

    player: str
    name: str
    bot: bool
    place: int
    banked: int
    net: int
    state: State
    reached: int | None
    """Milliseconds from the start to the last rise to `banked` cards; `None` without a rise."""
    tie: str = ""
    entries: tuple[LogLine, ...]
    positions: tuple[Position, ...]
    """The position at the deal, and after every entry of the log."""

    @property
    def end(self) -> int:
        """The time of the board's end, in milliseconds from the start."""
        return self.entries[-1].at if self.entries else 0

    @property
    def climb(self) -> Climb:
        counts = tuple(
            (line.at, position.banked)
            for line, position in zip(self.entries, self.positions[1:], strict=True)
        )
        return Climb(self.positions[0].banked, counts, self.end)

    def step_at(self, moment: int) -> int:
        """Return the number of log entries until a moment, in milliseconds from the start."""
        return bisect_right(self.entries, moment, key=lambda line: line.at)


def open_boards(record: RaceRecord) -> tuple[OpenBoard, ...]:
    """Return the boards of a race by place; raises `ReplayError` if they cannot be replayed."""
    return tuple(_board(record, index) for index in range(len(record.results)))


def _board(record: RaceRecord, index: int) -> OpenBoard:
    row = record.results[index]
    racer = record.racer(row.player)
    made = steps(record, row.player)
    return OpenBoard(
        player=row.player,
        name=racer.name,
        bot=racer.bot,
        place=row.place,
        banked=row.banked,
        net=row.net,
        state=row.state,
        reached=row.reached,
        entries=tuple(step.line for step in made),
        positions=(record.deal, *(step.position for step in made)),
    )
