"""The longest pauses on a board, and the time spent before each kind of move."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from saratoga_client.review.boards import OpenBoard
from saratoga_rules.moves import DOWN, UP, Carry, Move, parse_move


class MoveKind(StrEnum):
    """The purpose of a move."""

    BANKING = "banking"
    BUILDING = "building"
    DRAWING = "drawing"
    """A draw or a redeal."""
    STOPPING = "stopping"
    """An entry that ends the board and is no move."""


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


def time_spent(board: OpenBoard) -> Mapping[MoveKind, tuple[int, int]]:
    """Return by kind of move the number of moves and the milliseconds spent before them."""
    spent: dict[MoveKind, tuple[int, int]] = {}
    for pause, entry in zip(_pauses(board), board.entries, strict=True):
        kind = _kind(parse_move(entry.text)) if entry.is_move else MoveKind.STOPPING
        moves, lasted = spent.get(kind, (0, 0))
        spent[kind] = (moves + 1, lasted + pause.lasted)
    return {kind: spent[kind] for kind in MoveKind if kind in spent}


def _pauses(board: OpenBoard) -> list[Pause]:
    times = [board.since, *(entry.at for entry in board.entries)]
    return [
        Pause(since, until - since, step) for step, (since, until) in enumerate(pairwise(times))
    ]


def _kind(move: Move) -> MoveKind:
    if not isinstance(move, Carry):
        return MoveKind.DRAWING
    return MoveKind.BANKING if move.target in (UP, DOWN) else MoveKind.BUILDING
