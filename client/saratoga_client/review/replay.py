"""The state of a replay: the shown board, its step and the time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from saratoga_client.review.boards import OpenBoard


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay of a race at one moment."""

    race: str
    boards: Sequence[OpenBoard]
    """The boards in order of place; there is at least one."""
    player: str = ""
    """The id of the player who reviews the race; empty if this player did not race."""
    shown: int = 0
    """The index of the shown board."""
    step: int = 0
    """The number of the shown board's log entries so far."""
    moment: int = 0
    """The shown time, in milliseconds from the start of the race."""

    @property
    def board(self) -> OpenBoard:
        return self.boards[self.shown]

    @property
    def rival(self) -> OpenBoard:
        """The board that the shown one is compared with: the winner's, or that of the second place."""
        return self.boards[min(1, len(self.boards) - 1) if self.shown == 0 else 0]

    @property
    def end(self) -> int:
        """The time at which the last board ended, in milliseconds from the start of the race."""
        return max(board.end for board in self.boards)

    def step_of(self, index: int) -> int:
        """Return the number of a board's log entries so far."""
        if index == self.shown:
            return self.step
        return self.boards[index].step_at(self.moment) if self.moment else 0

    def banked(self, index: int) -> int:
        """Return the number of cards that a board has banked so far."""
        return self.boards[index].positions[self.step_of(index)].banked

    def stepped(self, steps: int) -> "Replay":
        """Return the replay `steps` log entries of the shown board later; earlier if negative."""
        step = min(max(self.step + steps, 0), len(self.board.entries))
        if step == self.step:
            return self
        return replace(self, step=step, moment=self.board.entries[step - 1].at if step else 0)

    def at(self, moment: int) -> "Replay":
        """Return the replay at a moment of the race."""
        moment = min(max(moment, 0), self.end)
        step = self.board.step_at(moment) if moment else 0
        return replace(self, moment=moment, step=step)

    def of(self, index: int) -> "Replay":
        """Return the replay of another board at the same moment."""
        return replace(self, shown=index, step=self.step_of(index))


def replay_of(race: str, boards: Sequence[OpenBoard], player: str = "") -> Replay:
    """Return a replay at the deal, with a player's board or the winner's; there is at least one board."""
    shown = next((at for at, board in enumerate(boards) if board.player == player), 0)
    return Replay(race, boards, player, shown)
