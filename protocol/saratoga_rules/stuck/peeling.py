"""The search for progress in games whose runs move freely: it counts which runs have been moved off.

It is exact for games in which any run may move, columns are built in one direction, and spaces take
only cards that lie on no other (kings). There every card in the run at the end of a column either
heads that run or lies where it was built. Cards that lie where they were built can swap
places with cards of their kind any number of times. So only three things matter: how many cards of
each kind have nothing on them, which runs have left their columns, and, if cards may come back from
foundations, how high these are. A head that leaves the card under it never comes back. This turns
thousands of arrangements into one.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

from saratoga_rules.cards import PACK, SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.stuck.prospects import Prospects
from saratoga_rules.vocabulary.building import Build
from saratoga_rules.vocabulary.foundations import rank_at, wanted_up
from saratoga_rules.vocabulary.packets import ANY_RUN

NOWHERE = -1
"""The value for the kind under a king, since a king can only go into a space."""


def can_peel(game: Game) -> bool:
    """Return whether the search of this module is exact for a game."""
    columns = game.columns
    # a card that comes back must be told from every other, and be counted against all that are banked
    comes_back = game.up.gives_back
    admits = columns.space.admits
    moves_into_spaces = Pile.COLUMN in admits.sources or Pile.FOUNDATION in admits.sources
    return (
        columns.packet == ANY_RUN
        and len(columns.build.steps) == 1
        and not columns.build.around_the_corner
        and not (comes_back and (game.packs > 1 or game.down is not None))
        and not (moves_into_spaces and any(columns.build.under[card] for card in admits.cards))
    )


class ColumnRun(NamedTuple):
    """A run inside a column; another run, face-down cards, or nothing lies below it."""

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
    up: tuple[int, ...]
    """The heights of the foundations built up."""
    free: tuple[int, ...]
    """The number of cards of each kind that have nothing on them."""
    spaces: int


class PeelingSearch:
    """A search of the stages that neutral moves reach, until progress is found.

    No face-down card is read: any that turns up is progress.
    """

    def __init__(self, game: Game, position: Position, ahead: Prospects) -> None:
        build = game.columns.build
        self._game = game
        self._ahead = ahead
        self._base, self._up = position.base, position.up
        self._kinds = _kinds(build)
        self._takers = {self._kinds[taker] for card in ahead.waiting for taker in build.under[card]}
        self._face_down = position.face_down_counts or (0,) * len(position.columns)
        runs = [_runs(column, build) for column in position.columns]
        self._columns = [[self._run(run) for run in column] for column in runs]
        self._places = {
            card: (column, index, card == run[0])
            for column, its_runs in enumerate(runs)
            for index, run in enumerate(its_runs)
            for card in run
        }
        """The column of each face-up card, the number of its run there, and whether it heads that run."""
        free = [0] * (len(PACK) + 1)
        for column in self._columns:
            if column:
                free[column[-1].top] += 1
        start = Stage(
            left=tuple(map(len, self._columns)),
            up=position.up,
            free=tuple(free),
            spaces=sum(not column for column in self._columns),
        )
        self._seen = {(start.left, start.up)}
        self._waiting = [start]
        self._has_progress = self._makes_progress(start)

    def advance(self, stages: int) -> bool | None:
        """Search this many more stages. Return whether the board is stuck; `None` if not known yet."""
        while self._waiting and not self._has_progress and stages > 0:
            stages -= 1
            stage = self._waiting.pop()
            self._peel(stage)
            if self._game.up.gives_back:
                self._take_back(stage)
                self._put_up(stage)
        if self._has_progress:
            return False
        return None if self._waiting else True

    def _makes_progress(self, stage: Stage) -> bool:
        if stage.spaces and self._ahead.space_helps:
            return True
        if any(
            stage.free[kind]
            for column, left in enumerate(stage.left)
            for run in self._columns[column][max(left - 1, 0) :]
            for kind in run.hopes
        ):
            return True
        if not self._game.up.gives_back:
            return False
        wanted = wanted_up(stage.up, self._base)
        if not wanted.keys().isdisjoint(self._ahead.waiting):
            return True
        if any(stage.free[kind] for kind in self._takers):
            return True
        banks_more = sum(stage.up) == sum(self._up)
        return banks_more and any(self._is_at_hand(stage, *each) for each in wanted.items())

    def _is_at_hand(self, stage: Stage, card: Card, index: int) -> bool:
        """Return whether swaps leave nothing on the card that a foundation takes next."""
        if not stage.free[self._kinds[card]]:
            return False
        if card in self._places:
            column, run, _ = self._places[card]
            return run >= stage.left[column] - 1
        return stage.up[index] < self._up[index]

    def _peel(self, stage: Stage) -> None:
        """Move the last original run of each column off."""
        for column, left in enumerate(stage.left):
            if not left:
                continue
            head = self._columns[column][left - 1]
            if head.goes_on == NOWHERE:
                # from the bottom of a column into a space would change nothing
                changes = left > 1 or self._face_down[column] > 0
                comes_off = stage.spaces > 0 and changes and head.moves_into_spaces
            else:
                comes_off = stage.free[head.goes_on] > 0
            if comes_off and (_less(stage.left, column), stage.up) not in self._seen:
                self._find(_changed(self._uncovered(stage, column), head.goes_on, -1))

    def _take_back(self, stage: Stage) -> None:
        """Take the top card of each foundation back, if that may help."""
        for index, height in enumerate(stage.up):
            card = card_of(rank_at(self._base, height), SUITS[index])
            goes_on = self._goes_on(card)
            if goes_on == NOWHERE:
                admits = self._game.columns.space.admits(Pile.FOUNDATION, card)
                has_room = admits and stage.spaces > 0
            else:
                has_room = stage.free[goes_on] > 0
            if height >= self._lowest[index] and has_room:
                lower = _changed(_changed(stage, goes_on, -1), self._kinds[card], 1)
                self._find(lower._replace(up=_less(stage.up, index)))

    def _put_up(self, stage: Stage) -> None:
        """Put cards onto foundations, where fewer are banked than at the start."""
        for card, index in wanted_up(stage.up, self._base).items():
            if not self._is_at_hand(stage, card, index):
                continue
            column, run, is_head = self._places.get(card, (0, -1, False))
            if is_head and run == stage.left[column] - 1:
                lifted = self._uncovered(stage, column)
            else:
                lifted = _changed(stage, self._goes_on(card), 1)
            higher = (*stage.up[:index], stage.up[index] + 1, *stage.up[index + 1 :])
            self._find(_changed(lifted, self._kinds[card], -1)._replace(up=higher))

    def _uncovered(self, stage: Stage, column: int) -> Stage:
        """Return the stage in which the last original run of a column is gone."""
        left = _less(stage.left, column)
        if left[column]:
            top = self._columns[column][left[column] - 1].top
            return _changed(stage._replace(left=left), top, 1)
        if self._face_down[column]:
            self._has_progress = True
        return stage._replace(left=left, spaces=stage.spaces + 1)

    def _find(self, stage: Stage) -> None:
        if (stage.left, stage.up) not in self._seen:
            self._seen.add((stage.left, stage.up))
            self._waiting.append(stage)
            self._has_progress = self._has_progress or self._makes_progress(stage)

    @cached_property
    def _lowest(self) -> tuple[int, ...]:
        """For each foundation, the height of the lowest card that may help in a column; 14 if none may.

        A card helps if its kind is wanted: to lay a run, a waiting card, or another such card on it, or to
        take over what lies on a card that can be banked.
        """
        wanted = {run.goes_on for column in self._columns for run in column} | self._takers
        for index, top in enumerate(self._up):
            for card in self._suit(index, range(top + 1, 14)):
                if card not in self._places:
                    break
                wanted.add(self._kinds[card])
        banked = [self._suit(index, range(2, top + 1)) for index, top in enumerate(self._up)]
        for _ in PACK[:13]:
            wanted |= {
                self._goes_on(c) for cards in banked for c in cards if self._kinds[c] in wanted
            }
        return tuple(
            next((at for at, card in enumerate(cards, 2) if self._kinds[card] in wanted), 14)
            for cards in banked
        )

    def _suit(self, index: int, heights: range) -> list[Card]:
        return [card_of(rank_at(self._base, height), SUITS[index]) for height in heights]

    def _run(self, run: tuple[Card, ...]) -> ColumnRun:
        return ColumnRun(
            goes_on=self._goes_on(run[0]),
            top=self._kinds[run[-1]],
            hopes=frozenset(self._kinds[card] for card in self._ahead.hopes.intersection(run)),
            moves_into_spaces=self._game.columns.space.admits(Pile.COLUMN, run[0]),
        )

    def _goes_on(self, card: Card) -> int:
        """Return the kind of the cards on which a card may be laid; `NOWHERE` for a king."""
        under = self._game.columns.build.under[card]
        return self._kinds[next(iter(under))] if under else NOWHERE


def _changed(stage: Stage, kind: int, step: int) -> Stage:
    """Return the stage with more or fewer free cards of a kind; for `NOWHERE`, spaces."""
    if kind == NOWHERE:
        return stage._replace(spaces=stage.spaces + step)
    free = stage.free
    return stage._replace(free=(*free[:kind], free[kind] + step, *free[kind + 1 :]))


def _less(numbers: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*numbers[:index], numbers[index] - 1, *numbers[index + 1 :])


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
