"""The boards of a finished race, with every position and its time."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

from saratoga_client.review.chart import ChartLine, Climb
from saratoga_client.wording import (
    NO_LEVELS,
    tie_words,
)
from saratoga_rules.position import Position, View, redact
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.replay import steps


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBoard:
    """A racer's board in a finished race, from the deal to its end."""

    player: str
    name: str
    bot: bool
    level: str = ""
    """The level of a bot; empty if unknown. Records do not have it."""
    place: int
    banked: int
    net: int
    state: str
    reached: int | None
    """Milliseconds from the start to the last rise to `banked` cards; `None` without a rise."""
    tie: str = ""
    entries: tuple[LogLine, ...]
    positions: tuple[Position, ...]
    """The position at the deal, and after every entry of the log."""

    def view(self, step: int) -> View:
        """Return the board after `step` entries of the log, as its player saw it."""
        return redact(self.positions[step])

    def banked_after(self, step: int) -> int:
        """Return the number of banked cards after `step` entries of the log."""
        return self.positions[step].banked

    @property
    def end(self) -> int:
        """The time of the board's end, in milliseconds from the start."""
        return self.entries[-1].at if self.entries else 0

    @property
    def climb(self) -> Climb:
        counts = tuple(
            (line.at, self.banked_after(step)) for step, line in enumerate(self.entries, start=1)
        )
        return Climb(self.banked_after(0), counts, self.end)

    @property
    def chart_line(self) -> ChartLine:
        return ChartLine(self.place, self.climb)

    def step_at(self, moment: int) -> int:
        """Return the number of log entries until a moment, in milliseconds from the start."""
        return bisect_right(self.entries, moment, key=lambda line: line.at)


def open_boards(record: RaceRecord, levels: Mapping[str, str] = NO_LEVELS) -> tuple[OpenBoard, ...]:
    """Return the boards of a race by place; raises `ReplayError` if they cannot be replayed.

    `levels` has the levels of bots by player id, as far as they are known.
    """
    return tuple(_board(record, index, levels) for index in range(len(record.results)))


def _board(record: RaceRecord, index: int, levels: Mapping[str, str]) -> OpenBoard:
    row = record.results[index]
    ahead = record.results[index - 1] if index else None
    racer = record.racer(row.player)
    made = steps(record, row.player)
    return OpenBoard(
        player=row.player,
        name=racer.name,
        bot=racer.bot,
        level=levels.get(row.player, ""),
        place=row.place,
        banked=row.banked,
        net=row.net,
        state=row.state,
        reached=row.reached,
        tie=tie_words(row, ahead),
        entries=tuple(step.line for step in made),
        positions=(record.opening, *(step.position for step in made)),
    )
