"""The longest pauses on a board."""

from dataclasses import dataclass
from itertools import pairwise

from saratoga_client.review.boards import OpenBoard


@dataclass(frozen=True, slots=True)
class Pause:
    """A span of time without log entries."""

    since: int
    """Milliseconds from the start of the race."""
    lasted: int
    """The length of the pause in milliseconds."""
    step: int
    """The number of log entries before the pause."""


def longest_pauses(board: OpenBoard, count: int = 3) -> tuple[Pause, ...]:
    """Return up to `count` pauses, the longest first; omit pauses of length 0."""
    pauses = [pause for pause in _pauses(board) if pause.lasted]
    return tuple(sorted(pauses, key=lambda pause: (-pause.lasted, pause.since))[:count])


def _pauses(board: OpenBoard) -> list[Pause]:
    times = [0, *(entry.at for entry in board.entries)]
    return [
        Pause(since, until - since, step) for step, (since, until) in enumerate(pairwise(times))
    ]
