"""The search for progress in games whose runs move freely: it counts which runs have been moved off.

It is exact for games in which any run may move, columns are built in one direction, and spaces take
only cards that lie on no other (kings), as long as no column has face-down cards. There every card in
the run at the end of a column either heads that run or lies where it was built. Cards that lie where
they were built can swap places with cards of their kind any number of times. So only two things matter: how many cards of
each kind have nothing on them, and which runs have left their columns. A head that leaves the card
under it never comes back. This turns thousands of arrangements into one.
"""

from functools import lru_cache
from typing import NamedTuple

from saratoga_rules.cards import PACK, Card
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.stuck.prospects import Prospects
from saratoga_rules.vocabulary.building import Build
from saratoga_rules.vocabulary.packets import ANY_RUN

NOWHERE = -1
"""The value for the kind under a king, since a king can only go into a space."""


def can_peel(game: Game) -> bool:
    """Return whether the search of this module is exact for a game."""
    columns = game.columns
    return (
        columns.packet == ANY_RUN
        and len(columns.build.steps) == 1
        and not columns.build.around_the_corner
        and not game.up.gives_back
        and not any(
            columns.space.admits(Pile.COLUMN, card) and columns.build.under[card] for card in PACK
        )
    )


class ColumnRun(NamedTuple):
    """A run inside a column; another run, or nothing, lies below it."""

    goes_on: int
    """The kind of card on which the first card of the run may be laid; `NOWHERE` for a king."""
    top: int
    """The kind of the last card of the run."""
    hopes: frozenset[int]
    """The kinds of cards in this run whose uncovering is progress."""
    moves_into_spaces: bool


class Stage(NamedTuple):
    """The counts that tell one arrangement from another in this search."""

    left: tuple[int, ...]
    """The number of original runs left in each column."""
    free: tuple[int, ...]
    """The number of cards of each kind that have nothing on them."""
    spaces: int


class PeelingSearch:
    """A search of the stages that neutral moves reach, until progress is found."""

    def __init__(self, game: Game, position: Position, ahead: Prospects) -> None:
        self._kinds = _kinds(game.columns.build)
        self._space_helps = ahead.space_helps
        self._columns = [
            [self._run(game, run, ahead.hopes) for run in _runs(column, game.columns.build)]
            for column in position.columns
        ]
        free = [0] * (len(PACK) + 1)
        for runs in self._columns:
            if runs:
                free[runs[-1].top] += 1
        start = Stage(
            left=tuple(map(len, self._columns)),
            free=tuple(free),
            spaces=sum(not runs for runs in self._columns),
        )
        self._seen = {start.left}
        self._waiting = [start]

    def advance(self, stages: int) -> bool | None:
        """Search this many more stages. Return whether the board is stuck; `None` if not known yet."""
        while self._waiting and stages > 0:
            stages -= 1
            stage = self._waiting.pop()
            if self._makes_progress(stage):
                self._waiting = [stage]
                return False
            for column, left in enumerate(stage.left):
                if left and self._comes_off(stage, column):
                    self._peel(stage, column)
        return None if self._waiting else True

    def _makes_progress(self, stage: Stage) -> bool:
        if stage.spaces and self._space_helps:
            return True
        return any(
            stage.free[kind]
            for column, left in enumerate(stage.left)
            for run in self._columns[column][max(left - 1, 0) :]
            for kind in run.hopes
        )

    def _comes_off(self, stage: Stage, column: int) -> bool:
        head = self._columns[column][stage.left[column] - 1]
        if head.goes_on == NOWHERE:
            # from the bottom of a column into a space would change nothing
            return stage.spaces > 0 and stage.left[column] > 1 and head.moves_into_spaces
        return stage.free[head.goes_on] > 0

    def _peel(self, stage: Stage, column: int) -> None:
        left = stage.left[column] - 1
        after = (*stage.left[:column], left, *stage.left[column + 1 :])
        if after in self._seen:
            return
        self._seen.add(after)
        runs, free, spaces = self._columns[column], list(stage.free), stage.spaces
        if runs[left].goes_on == NOWHERE:
            spaces -= 1
        else:
            free[runs[left].goes_on] -= 1
        if left:
            free[runs[left - 1].top] += 1
        else:
            spaces += 1
        self._waiting.append(Stage(after, tuple(free), spaces))

    def _run(self, game: Game, run: tuple[Card, ...], hopes: frozenset[Card]) -> ColumnRun:
        under = game.columns.build.under[run[0]]
        return ColumnRun(
            goes_on=self._kinds[next(iter(under))] if under else NOWHERE,
            top=self._kinds[run[-1]],
            hopes=frozenset(self._kinds[card] for card in hopes.intersection(run)),
            moves_into_spaces=game.columns.space.admits(Pile.COLUMN, run[0]),
        )


@lru_cache
def _kinds(build: Build) -> dict[Card, int]:
    """Return the kind of every card: the same cards can be laid on cards of one kind."""
    numbers: dict[frozenset[Card], int] = {}
    return {card: numbers.setdefault(build.onto[card], len(numbers)) for card in PACK}


def _runs(column: tuple[Card, ...], build: Build) -> list[tuple[Card, ...]]:
    """Return the runs of which a column consists, from bottom to top."""
    runs: list[tuple[Card, ...]] = []
    while column:
        length = build.run(column)
        runs.append(column[-length:])
        column = column[:-length]
    return runs[::-1]
