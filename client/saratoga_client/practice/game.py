"""A practice game: one deal, and everything done with it, so that all of it can be undone.

Positions are values, so undoing is going back to the position before, with everything that the
move had brought about by itself; what was undone is kept until another move is made. Does no I/O
and reads no clock: times are milliseconds since the deal was shown, told by whoever plays.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from saratoga_client.bots.memory import Memory, remember
from saratoga_client.practice.deals import PracticeDeal
from saratoga_rules.game import Game
from saratoga_rules.judge import is_won, play
from saratoga_rules.money import net
from saratoga_rules.moves import Move
from saratoga_rules.position import Position
from saratoga_rules.stuck.stuck import is_stuck, may_declare
from saratoga_rules.views import View, redact

STUCK_LIMIT: Final = 4000
"""Arrangements looked at to see whether anything can still be banked: half a second at most."""


class Aid(StrEnum):
    """What a race does not know; in a run's log it stands where a move would."""

    UNDO = "undo"
    REDO = "redo"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class PracticeEntry:
    """One thing done, and when."""

    at: int
    """Milliseconds since the deal was shown."""
    done: Move | Aid


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move that stands, and what it led to."""

    move: Move
    position: Position
    memory: Memory
    """What an attentive player knows there; hints rest on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeGame:
    """A practice game as it stands."""

    deal: PracticeDeal
    log: tuple[PracticeEntry, ...] = ()
    """Everything done since the deal, undone moves and all."""
    made: tuple[PlayedMove, ...] = ()
    """The moves that stand."""
    undone: tuple[PlayedMove, ...] = ()
    """The moves that were undone; the last is made again first."""
    opening: Memory = field(default_factory=Memory)
    """What is known at the deal, and, after a hint there, what was meant to follow."""

    @property
    def game(self) -> Game:
        return self.deal.game

    @property
    def position(self) -> Position:
        return self.made[-1].position if self.made else self.deal.position

    @property
    def memory(self) -> Memory:
        return self.made[-1].memory if self.made else self.opening

    @property
    def view(self) -> View:
        """What the player sees; hints and drawings rest on nothing else."""
        return redact(self.position)

    @property
    def banked(self) -> int:
        return self.position.banked

    @property
    def net(self) -> int:
        """Casino dollars, which nobody pays."""
        return net(self.game, self.banked)

    @property
    def is_won(self) -> bool:
        return is_won(self.game, self.position)

    @property
    def undos(self) -> int:
        return sum(entry.done is Aid.UNDO for entry in self.log)

    @property
    def hints(self) -> int:
        return sum(entry.done is Aid.HINT for entry in self.log)

    @property
    def is_clean(self) -> bool:
        """Whether it was played as a race is: nothing undone, no hint."""
        return not (self.undos or self.hints)

    @property
    def last_at(self) -> int:
        """When something was done last."""
        return self.log[-1].at if self.log else 0


def new_game(deal: PracticeDeal) -> PracticeGame:
    """A new game; also how one is begun again, and `restart` says the same."""
    return PracticeGame(deal=deal)


def restart(practice: PracticeGame) -> PracticeGame:
    """The same deal from the start, with nothing done yet."""
    return new_game(practice.deal)


def make(practice: PracticeGame, move: Move, at: int) -> PracticeGame:
    """The game after a move; raises `IllegalMove`, and then nothing has changed.

    What was undone before cannot be made again after a move of one's own, unless it is the same.
    """
    if practice.undone and practice.undone[-1].move == move:
        return _made_again(practice, _entry(practice, at, move))
    position = play(practice.game, practice.position, move)
    memory = remember(
        practice.game, _minded(practice.memory, move), practice.view, move, redact(position)
    )
    return replace(
        practice,
        log=(*practice.log, _entry(practice, at, move)),
        made=(*practice.made, PlayedMove(move, position, memory)),
        undone=(),
    )


def undo(practice: PracticeGame, at: int) -> PracticeGame:
    """The game before its last move; as it is, where there is none."""
    if not practice.made:
        return practice
    *made, last = practice.made
    return replace(
        practice,
        log=(*practice.log, _entry(practice, at, Aid.UNDO)),
        made=tuple(made),
        undone=(*practice.undone, last),
    )


def redo(practice: PracticeGame, at: int) -> PracticeGame:
    """The move undone last is made again; as it is, where there is none."""
    if not practice.undone:
        return practice
    return _made_again(practice, _entry(practice, at, Aid.REDO))


def with_hint(practice: PracticeGame, memory: Memory, at: int) -> PracticeGame:
    """The same position after a hint, which is counted; `memory` holds what it meant to follow."""
    log = (*practice.log, _entry(practice, at, Aid.HINT))
    if not practice.made:
        return replace(practice, log=log, opening=memory)
    *made, last = practice.made
    return replace(practice, log=log, made=(*made, replace(last, memory=memory)))


def is_known_stuck(game: Game, position: Position, limit: int = STUCK_LIMIT) -> bool:
    """Whether it is certain that nothing more can be banked, and fair to say so.

    As in a race nothing is said before every card of the stock was seen, because the verdict
    would tell of hidden cards.
    """
    return may_declare(position) and is_stuck(game, position, limit) is True


def counts(practice: PracticeGame) -> Iterator[tuple[int, int]]:
    """When and how many cards were banked after everything done, undone moves and all."""
    walked = new_game(practice.deal)
    for entry in practice.log:
        walked = after_entry(walked, entry)
        yield entry.at, walked.banked


def after_entry(practice: PracticeGame, entry: PracticeEntry) -> PracticeGame:
    """The game after an entry of a log; raises `IllegalMove`."""
    match entry.done:
        case Aid.UNDO:
            return undo(practice, entry.at)
        case Aid.REDO:
            return redo(practice, entry.at)
        case Aid.HINT:
            return with_hint(practice, practice.memory, entry.at)
        case move:
            return make(practice, move, entry.at)


def _made_again(practice: PracticeGame, entry: PracticeEntry) -> PracticeGame:
    *undone, again = practice.undone
    return replace(
        practice,
        log=(*practice.log, entry),
        made=(*practice.made, again),
        undone=tuple(undone),
    )


def _minded(memory: Memory, move: Move) -> Memory:
    """The memory of somebody who makes this move: a plan that it does not follow is dropped."""
    if memory.plan and memory.plan[0] == move:
        return replace(memory, plan=memory.plan[1:])
    return replace(memory, plan=())


def _entry(practice: PracticeGame, at: int, done: Move | Aid) -> PracticeEntry:
    """Time never runs back, whatever clock it was read from."""
    return PracticeEntry(max(at, practice.last_at), done)
