"""The first difference between the moves of two boards."""

from dataclasses import dataclass
from itertools import pairwise

from saratoga_client.input.move_text import CardName, card_name, describe
from saratoga_client.review.boards import OpenBoard
from saratoga_client.wording import minutes_and_seconds, state_words
from saratoga_rules.game import Game
from saratoga_rules.moves import parse_move
from saratoga_rules.position import redact
from saratoga_rules.records.replay import Step
from saratoga_rules.records.standing import LOG_ENDINGS


@dataclass(frozen=True, slots=True)
class Divergence:
    """The number of moves that two racers have in common, and what each did next."""

    common: int
    """The number of log entries before the difference."""
    own_next: str
    """The player's next entry in words; empty if there was none."""
    own_at: int
    """The time of the player's next entry, or else of the board's end, in milliseconds from the start."""
    winners_next: str
    winners_at: int


def first_divergence(
    game: Game, own: OpenBoard, winner: OpenBoard, card_name: CardName = card_name
) -> Divergence | None:
    """Return the first difference of two logs; `None` if they are equal."""
    mine = [line.text for line in own.entries]
    theirs = [line.text for line in winner.entries]
    if mine == theirs:
        return None
    shorter = min(len(mine), len(theirs))
    differs_at = next((at for at in range(shorter) if mine[at] != theirs[at]), shorter)
    own_next, own_at = _next(game, own, differs_at, card_name)
    winners_next, winners_at = _next(game, winner, differs_at, card_name)
    return Divergence(differs_at, own_next, own_at, winners_next, winners_at)


def divergence_lines(divergence: Divergence, own: str, winner: str) -> tuple[str, ...]:
    """Return the next entry of each board, one line each."""
    return (
        _line(own, divergence.common + 1, divergence.own_at, divergence.own_next),
        _line(winner, divergence.common + 1, divergence.winners_at, divergence.winners_next),
    )


def _line(name: str, number: int, at: int, said: str) -> str:
    return (
        f"{name}: {number}. {said} ({minutes_and_seconds(at)})"
        if said
        else f"{name}: the board ended there"
    )


def _next(game: Game, board: OpenBoard, at: int, card_name: CardName) -> tuple[str, int]:
    if at == len(board.entries):
        return "", board.end
    line, position = Step(board.entries[at], board.positions[at])
    if line.text in LOG_ENDINGS:
        return state_words(line.text), line.at
    return describe(game, redact(position), parse_move(line.text), card_name), line.at


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
