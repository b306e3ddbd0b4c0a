"""The boards of a finished race, open to everybody: every position, and when it was reached."""

from bisect import bisect_right
from dataclasses import dataclass, replace

from saratoga_client.review.climb import Climb
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.record import LogLine, RaceRecord
from saratoga_rules.replay import game_of, steps
from saratoga_rules.standing import State


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBoard:
    """One racer's board, from the deal to its end."""

    player: str
    name: str
    bot: bool
    place: int
    banked: int
    net: int
    state: State
    reached: int | None
    """When the count last rose to `banked`, in milliseconds; `None`: never bettered."""
    tie: str = ""
    entries: tuple[LogLine, ...]
    positions: tuple[Position, ...]
    """The deal, and the position after every entry."""

    @property
    def end(self) -> int:
        """When the board was over, in milliseconds."""
        return self.entries[-1].at if self.entries else 0

    @property
    def climb(self) -> Climb:
        counts = tuple(
            (line.at, position.banked)
            for line, position in zip(self.entries, self.positions[1:], strict=True)
        )
        return Climb(self.positions[0].banked, counts, self.end)

    def step_at(self, moment: int) -> int:
        """How many entries had been made at a moment."""
        return bisect_right(self.entries, moment, key=lambda line: line.at)


def open_boards(record: RaceRecord) -> tuple[OpenBoard, ...]:
    """Every board of a race in order of place; raises `ReplayError` at a record that is none."""
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


@dataclass(frozen=True, slots=True)
class Replay:
    """A race being seen again: whose board is shown, at which step of it."""

    game: Game
    race: str
    boards: tuple[OpenBoard, ...]
    """In order of place; there is at least one."""
    shown: int = 0
    """Whose: an index into `boards`."""
    step: int = 0
    """How many of its entries have been made."""
    moment: int = 0
    """Milliseconds from the start of the race."""

    @property
    def board(self) -> OpenBoard:
        return self.boards[self.shown]

    @property
    def position(self) -> Position:
        return self.board.positions[self.step]

    @property
    def entry(self) -> LogLine | None:
        """What led to the position; `None` at the deal."""
        return self.board.entries[self.step - 1] if self.step else None

    @property
    def end(self) -> int:
        """When the last board was over, in milliseconds."""
        return max(board.end for board in self.boards)

    @property
    def is_over(self) -> bool:
        return self.moment >= self.end and self.step == len(self.board.entries)

    def stepped(self, steps: int) -> "Replay":
        """So many entries on, or back if negative, on the board that is shown."""
        step = min(max(self.step + steps, 0), len(self.board.entries))
        if step == self.step:
            return self
        return replace(self, step=step, moment=self.board.entries[step - 1].at if step else 0)

    def at(self, moment: int) -> "Replay":
        """At a moment of the race."""
        moment = min(max(moment, 0), self.end)
        return replace(self, moment=moment, step=self.board.step_at(moment) if moment else 0)

    def at_home(self) -> "Replay":
        """At the deal."""
        return replace(self, moment=0, step=0)

    def at_end(self) -> "Replay":
        """Where the shown board was over."""
        return replace(self, moment=self.board.end, step=len(self.board.entries))

    def other(self, by: int = 1) -> "Replay":
        """The next racer's board at the same moment."""
        shown = (self.shown + by) % len(self.boards)
        board = self.boards[shown]
        return replace(self, shown=shown, step=board.step_at(self.moment) if self.moment else 0)


def replay_of(record: RaceRecord, player: str = "") -> Replay:
    """A race at its deal, this player's board first, else the winner's; raises `ReplayError`."""
    boards = open_boards(record)
    if not boards:
        raise ValueError(f"Nobody raced in {record.race_id}.")
    shown = next((at for at, board in enumerate(boards) if board.player == player), 0)
    return Replay(game_of(record), record.race_id, boards, shown)
