"""A practice game: a deal and its moves, which can be undone and redone. Pure.

Positions are immutable, so undo returns to the previous one. Undone moves are kept until another
move is made. The caller passes all times, in milliseconds since the deal was shown.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from saratoga_client.bots.memory import Memory, remember
from saratoga_client.practice.deals import PracticeDeal
from saratoga_rules.game import Game
from saratoga_rules.money import net
from saratoga_rules.moves import Move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import Position, View, redact
from saratoga_rules.stuck.stuck import is_stuck, may_declare

STUCK_LIMIT: Final = 4000
"""Maximum positions that the search for a stuck board visits, in at most half a second."""


class Aid(StrEnum):
    """An action that only practice has, such as undo; the log of a run contains it like a move."""

    UNDO = "undo"
    REDO = "redo"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class PracticeEntry:
    """An action in the log, and its time."""

    at: int
    """Milliseconds since the deal was shown."""
    done: Move | Aid


@dataclass(frozen=True, slots=True)
class PlayedMove:
    """A move, and the position after it."""

    move: Move
    position: Position
    memory: Memory
    """The cards that an attentive player knows after the move; hints use no other hidden cards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PracticeGame:
    """A practice game at one moment."""

    deal: PracticeDeal
    log: tuple[PracticeEntry, ...] = ()
    """All actions since the deal, undone moves included."""
    made: tuple[PlayedMove, ...] = ()
    """The moves made and not undone, oldest first."""
    undone: tuple[PlayedMove, ...] = ()
    """The undone moves; the last one is redone first."""
    opening: Memory = field(default_factory=Memory)
    """The memory at the deal, with the plan of a hint that was given before the first move."""

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
        """The player's view, the only source of hints and drawings."""
        return redact(self.position)

    @property
    def banked(self) -> int:
        return self.position.banked

    @property
    def net(self) -> int:
        """The casino dollars that this board would win or lose in a race."""
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
        """True if the game was played without undo and hints, as in a race."""
        return not (self.undos or self.hints)

    @property
    def last_at(self) -> int:
        """The time of the last action, in milliseconds since the deal was shown."""
        return self.log[-1].at if self.log else 0


def new_game(deal: PracticeDeal) -> PracticeGame:
    """Return a new game of a deal."""
    return PracticeGame(deal=deal)


def restart(practice: PracticeGame) -> PracticeGame:
    """Return a new game of the same deal."""
    return new_game(practice.deal)


def make(practice: PracticeGame, move: Move, at: int) -> PracticeGame:
    """Return the game after a move; raises `IllegalMove`.

    The move drops the undone moves, unless it is the one that would be redone next.
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
    """Return the game without its last move; the same game if there is none."""
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
    """Return the game with the last undone move redone; the same game if there is none."""
    if not practice.undone:
        return practice
    return _made_again(practice, _entry(practice, at, Aid.REDO))


def with_hint(practice: PracticeGame, memory: Memory, at: int) -> PracticeGame:
    """Return the game after a hint, which is counted; `memory` has the hint's plan."""
    log = (*practice.log, _entry(practice, at, Aid.HINT))
    if not practice.made:
        return replace(practice, log=log, opening=memory)
    *made, last = practice.made
    return replace(practice, log=log, made=(*made, replace(last, memory=memory)))


def is_known_stuck(game: Game, position: Position, limit: int = STUCK_LIMIT) -> bool:
    """Return whether it is certain that no more card can be banked.

    As in a race, return `False` until the player has seen every card of the stock, because the
    answer would reveal hidden cards.
    """
    return may_declare(position) and is_stuck(game, position, limit) is True


def counts(practice: PracticeGame) -> Iterator[tuple[int, int]]:
    """Yield the time and the banked cards after each action, undone moves included."""
    walked = new_game(practice.deal)
    for entry in practice.log:
        walked = after_entry(walked, entry)
        yield entry.at, walked.banked


def after_entry(practice: PracticeGame, entry: PracticeEntry) -> PracticeGame:
    """Return the game after an entry of a log; raises `IllegalMove`."""
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
    """Return the memory after a move; drop the plan if the move does not follow it."""
    if memory.plan and memory.plan[0] == move:
        return replace(memory, plan=memory.plan[1:])
    return replace(memory, plan=())


def _entry(practice: PracticeGame, at: int, done: Move | Aid) -> PracticeEntry:
    """Return a log entry; its time is at least the time of the last entry."""
    return PracticeEntry(max(at, practice.last_at), done)
