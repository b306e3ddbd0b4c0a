"""A finished race seen again: whose board, at which step and moment, and which one beside it."""

from dataclasses import dataclass, replace

from saratoga_client.review.boards import OpenBoard, open_boards
from saratoga_client.review.divergence import Divergence
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.records.record import LogLine, RaceRecord
from saratoga_rules.records.replay import game_of


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
    rival: int = 0
    """Whose board it is compared with: another index, unless there is one board only."""
    ahead: int | None = None
    """The rival's board is so many entries ahead of the shown one, step for step; `None`: it is
    where it was at the moment. After a jump to a parting both boards go on together."""

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

    def step_of(self, index: int) -> int:
        """How many entries some board has made by now."""
        board = self.boards[index]
        if index == self.shown:
            return self.step
        if self.ahead is not None and index == self.rival:
            return min(max(self.step + self.ahead, 0), len(board.entries))
        return board.step_at(self.moment) if self.moment else 0

    def stepped(self, steps: int) -> "Replay":
        """So many entries on, or back if negative, on the board that is shown."""
        step = min(max(self.step + steps, 0), len(self.board.entries))
        if step == self.step:
            return self
        return replace(self, step=step, moment=self.board.entries[step - 1].at if step else 0)

    def at(self, moment: int) -> "Replay":
        """At a moment of the race."""
        moment = min(max(moment, 0), self.end)
        step = self.board.step_at(moment) if moment else 0
        return replace(self, moment=moment, step=step, ahead=None)

    def at_home(self) -> "Replay":
        """At the deal."""
        return replace(self, moment=0, step=0, ahead=None)

    def at_end(self) -> "Replay":
        """Where the shown board was over."""
        return replace(self, moment=self.board.end, step=len(self.board.entries), ahead=None)

    def at_divergence(self, divergence: Divergence) -> "Replay":
        """Where the shown board and the rival's parted, both of them."""
        here = self.at_home().stepped(divergence.own)
        return replace(here, ahead=divergence.winners - divergence.own)

    def other(self, by: int = 1) -> "Replay":
        """The next racer's board at the same moment."""
        return self.of((self.shown + by) % len(self.boards))

    def of(self, index: int) -> "Replay":
        """Another racer's board at the same moment; the rival's changes places with the shown one."""
        if index == self.shown:
            return self
        step, moment, ahead = self.step_of(index), self.moment, None
        if self.ahead is not None and index == self.rival:
            ahead = self.step - step
            moment = self.boards[index].entries[step - 1].at if step else 0
        rival = self.shown if index == self.rival else self.rival
        return replace(self, shown=index, rival=rival, step=step, moment=moment, ahead=ahead)


def replay_of(record: RaceRecord, player: str = "") -> Replay:
    """A race at its deal, this player's board first, else the winner's; raises `ReplayError`."""
    boards = open_boards(record)
    if not boards:
        raise ValueError(f"Nobody raced in {record.race_id}.")
    shown = next((at for at, board in enumerate(boards) if board.player == player), 0)
    rival = min(1, len(boards) - 1) if shown == 0 else 0
    return Replay(game_of(record), record.race_id, boards, shown, rival=rival)
