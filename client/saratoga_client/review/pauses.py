"""Where the time went: the longest pauses, and how long each kind of move took."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from saratoga_client.review.boards import OpenBoard
from saratoga_rules.moves import DOWN, UP, Carry, Move, parse_move


class MoveKind(StrEnum):
    """What a move is for."""

    BANKING = "banking"
    BUILDING = "building"
    DRAWING = "drawing"
    """From the stock, and turning it over."""
    STOPPING = "stopping"
    """What came before the board's end, if that was no move."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A time in which nothing was done."""

    since: int
    """Milliseconds from the start of the race."""
    lasted: int
    """Milliseconds."""
    step: int
    """How many entries had been made: the position that was thought about."""


def longest_pauses(board: OpenBoard, count: int = 3) -> tuple[Pause, ...]:
    """The longest, the longest first; none of no length."""
    pauses = [pause for pause in _pauses(board) if pause.lasted]
    return tuple(sorted(pauses, key=lambda pause: (-pause.lasted, pause.since))[:count])


def time_spent(board: OpenBoard) -> Mapping[MoveKind, tuple[int, int]]:
    """Of every kind of move that was made how many, and the milliseconds before them."""
    spent: dict[MoveKind, tuple[int, int]] = {}
    for pause, entry in zip(_pauses(board), board.entries, strict=True):
        kind = _kind(parse_move(entry.text)) if entry.is_move else MoveKind.STOPPING
        moves, lasted = spent.get(kind, (0, 0))
        spent[kind] = (moves + 1, lasted + pause.lasted)
    return {kind: spent[kind] for kind in MoveKind if kind in spent}


def _pauses(board: OpenBoard) -> list[Pause]:
    times = [0, *(entry.at for entry in board.entries)]
    return [
        Pause(since, until - since, step) for step, (since, until) in enumerate(pairwise(times))
    ]


def _kind(move: Move) -> MoveKind:
    if not isinstance(move, Carry):
        return MoveKind.DRAWING
    return MoveKind.BANKING if move.target in (UP, DOWN) else MoveKind.BUILDING
