"""The first difference between two boards, and their last common position.

Different moves may lead to the same position, so the last common position may be after the first
difference.
"""

from dataclasses import dataclass

from saratoga_client.input.move_text import CardName, card_name, describe
from saratoga_client.review.boards import OpenBoard
from saratoga_client.wording import minutes_and_seconds
from saratoga_rules.game import Game
from saratoga_rules.moves import parse_move
from saratoga_rules.records.record import LOG_ENDINGS
from saratoga_rules.records.replay import Step
from saratoga_rules.views import redact


@dataclass(frozen=True, slots=True)
class Divergence:
    """A position from which two racers made different moves."""

    own: int
    """The number of the player's log entries before the difference."""
    winners: int
    """The number of the winner's log entries before the difference."""
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
    return _divergence(game, (own, differs_at), (winner, differs_at), card_name)


def last_divergence(
    game: Game, own: OpenBoard, winner: OpenBoard, card_name: CardName = card_name
) -> Divergence | None:
    """Return the last position that both boards had, perhaps by different moves.

    Return `None` if that position is the end of both boards.
    """
    # The end of a board is an entry too, but it leads to no position.
    mine, theirs = _moves(own), _moves(winner)
    seen = {position: at for at, position in enumerate(winner.positions[: theirs + 1])}
    for at in range(mine, -1, -1):
        there = seen.get(own.positions[at])
        if there is not None:
            is_end = (at, there) == (mine, theirs)
            return None if is_end else _divergence(game, (own, at), (winner, there), card_name)
    return None


def _moves(board: OpenBoard) -> int:
    return sum(entry.is_move for entry in board.entries)


def divergence_lines(divergence: Divergence, own: str, winner: str) -> tuple[str, ...]:
    """Return the next entry of each board, one line each."""
    return (
        _line(own, divergence.own + 1, divergence.own_at, divergence.own_next),
        _line(winner, divergence.winners + 1, divergence.winners_at, divergence.winners_next),
    )


def _line(name: str, number: int, at: int, said: str) -> str:
    return (
        f"{name}: {number}. {said} ({minutes_and_seconds(at)})"
        if said
        else f"{name}: the board ended there"
    )


def _divergence(
    game: Game, own: tuple[OpenBoard, int], winner: tuple[OpenBoard, int], card_name: CardName
) -> Divergence:
    own_next, own_at = _next(game, *own, card_name)
    winners_next, winners_at = _next(game, *winner, card_name)
    return Divergence(own[1], winner[1], own_next, own_at, winners_next, winners_at)


def _next(game: Game, board: OpenBoard, at: int, card_name: CardName) -> tuple[str, int]:
    if at == len(board.entries):
        return "", board.end
    line, position = Step(board.entries[at], board.positions[at])
    if line.text in LOG_ENDINGS:
        return str(LOG_ENDINGS[line.text]), line.at
    return describe(game, redact(position), parse_move(line.text), card_name), line.at
