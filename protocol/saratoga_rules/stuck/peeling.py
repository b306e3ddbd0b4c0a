"""The search for progress in games whose runs move freely: it counts the runs moved off.

It is exact for games in which any run may move, columns are built in one direction, and spaces take
only cards that lie on no other (kings). There every card in the run at the end of a column either
heads that run or lies where it was built. Cards that lie where they were built can swap
places with cards of their kind any number of times. So only three things matter: how many cards of
each kind have nothing on them, which runs have left their columns, and, if cards may come back from
foundations, how high these are. A head that leaves the card under it never comes back. This turns
thousands of arrangements into one.

An example, with the cards that still lie where they lay at the start. The AC is what we hope for:

    t1: AC 9H 7H  t2: 3S 8S  t3: TC   free: a red 7, a black 8, a black 10
    t1: AC 9H     t2: 3S 8S  t3: TC   free: a red 7, a red 9, a black 10    (7H lies on a black 8)
    t1: AC        t2: 3S 8S  t3: TC   free: a red 7, a red 9, the AC        (9H lies on a black 10)

With an 8C in a fourth column the 7H could go to and fro between two black eights. These would be
many arrangements, but not one stage more: it is enough that one black eight is free.
"""

from functools import cached_property, lru_cache
from itertools import chain, takewhile
from typing import Final, NamedTuple

from saratoga_rules.cards import PACK, Card
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import Heights, Position, with_item
from saratoga_rules.stuck.prospects import Prospects
from saratoga_rules.vocabulary.building import Build
from saratoga_rules.vocabulary.foundations import BUILT_UP, wanted_up
from saratoga_rules.vocabulary.tableau import ANY_RUN

SPACE: Final = -1
"""The kind on which a king lies: a space."""


def can_peel(game: Game) -> bool:
    """Return whether the search of this module is exact for a game."""
    columns = game.columns
    # a card that comes back must be told from others, and be counted against all that are banked
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


class Stage(NamedTuple):
    """The counts that tell one arrangement from another in this search."""

    left: tuple[int, ...]
    """The number of cards in each column that still lie where they lay at the start."""
    up: Heights
    """The heights of the foundations built up."""
    free: list[int]
    """The number of cards of each kind that have nothing on them; at the end, of spaces."""


class PeelingSearch:
    """A search of the stages that neutral moves reach, until progress is found.

    No face-down card is read: any that turns up is progress.
    """

    def __init__(self, game: Game, position: Position, ahead: Prospects) -> None:
        self._game = game
        self._ahead = ahead
        self._base, self._up = position.base, position.up
        self._columns = position.columns
        self._face_down = position.face_down_counts or (0,) * len(position.columns)
        self._kinds, self._goes_on = _kinds(game.columns.build)
        self._starts: dict[tuple[int, int], int] = {}
        self._seen: set[tuple[tuple[int, ...], Heights]] = set()
        self._waiting: list[Stage] = []
        self._has_progress = False
        free = [0] * (len(PACK) + 1)
        for column in self._columns:
            free[self._kinds[column[-1]] if column else SPACE] += 1
        self._find(Stage(tuple(map(len, self._columns)), position.up, free))

    def advance(self, stages: int) -> bool | None:
        """Search this many more stages. Return whether the board is stuck; `None` if unknown."""
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

    def _find(self, stage: Stage) -> None:
        if (stage.left, stage.up) not in self._seen:
            self._seen.add((stage.left, stage.up))
            self._waiting.append(stage)
            self._has_progress = self._has_progress or self._makes_progress(stage)

    def _start(self, index: int, left: int) -> int:
        """Return where the run starts that ends what is left of a column."""
        start = self._starts.get((index, left))
        if start is None:
            start = left - self._game.columns.build.run(self._columns[index][:left])
            self._starts[index, left] = start
        return start

    def _makes_progress(self, stage: Stage) -> bool:
        hopes, kinds, free = self._ahead.hopes, self._kinds, stage.free
        if free[SPACE] and self._ahead.space_helps:
            return True
        for index, left in enumerate(stage.left):
            for card in self._columns[index][self._start(index, left) :]:
                if card in hopes and free[kinds[card]]:
                    return True
        if not self._game.up.gives_back:
            return False
        wanted = wanted_up(stage.up, self._base)
        if not wanted.keys().isdisjoint(self._ahead.waiting):
            return True
        if any(free[kind] for kind in self._takers):
            return True
        banks_more = sum(stage.up) == sum(self._up)
        return banks_more and any(self._is_at_hand(stage, *each) for each in wanted.items())

    def _is_at_hand(self, stage: Stage, card: Card, index: int) -> bool:
        """Return whether swaps leave nothing on the card that a foundation takes next."""
        if not stage.free[self._kinds[card]]:
            return False
        if card in self._places:
            column, at = self._places[card]
            return at >= self._start(column, stage.left[column])
        return stage.up[index] < self._up[index]

    def _peel(self, stage: Stage) -> None:
        """Move the last original run of each column off."""
        for index, left in enumerate(stage.left):
            if not left:
                continue
            start = self._start(index, left)
            head = self._columns[index][start]
            goes_on = self._goes_on[head]
            # from the bottom of a column into a space would change nothing
            if goes_on == SPACE and not (start or self._face_down[index]):
                continue
            if self._has_room(stage, Pile.COLUMN, head):
                fewer, free = self._lifted(stage, index, start)
                free[goes_on] -= 1
                self._find(Stage(fewer, stage.up, free))

    def _take_back(self, stage: Stage) -> None:
        """Take the top card of each foundation back, if that may help."""
        for index, height in enumerate(stage.up):
            if height < 2:
                continue
            card = BUILT_UP[self._base][index][height - 1]
            if self._has_room(stage, Pile.FOUNDATION, card) and height >= self._lowest[index]:
                free = [*stage.free]
                free[self._goes_on[card]] -= 1
                free[self._kinds[card]] += 1
                self._find(Stage(stage.left, with_item(stage.up, index, height - 1), free))

    def _put_up(self, stage: Stage) -> None:
        """Put cards onto foundations, where fewer are banked than at the start."""
        for card, index in wanted_up(stage.up, self._base).items():
            if not self._is_at_hand(stage, card, index):
                continue
            column, at = self._places.get(card, (0, -1))
            left = stage.left[column]
            if 0 <= at < left and at == self._start(column, left):
                fewer, free = self._lifted(stage, column, at)
            else:
                fewer, free = stage.left, [*stage.free]
                free[self._goes_on[card]] += 1
            free[self._kinds[card]] -= 1
            self._find(Stage(fewer, with_item(stage.up, index, stage.up[index] + 1), free))

    def _has_room(self, stage: Stage, source: Pile, card: Card) -> bool:
        """Return whether a card that the card may lie on, or a space, is free."""
        goes_on = self._goes_on[card]
        if not stage.free[goes_on]:
            return False
        return goes_on != SPACE or self._game.columns.space.admits(source, card)

    def _lifted(self, stage: Stage, index: int, start: int) -> tuple[tuple[int, ...], list[int]]:
        """Return the cards left and the free kinds when a column is lifted off from a card on."""
        free = [*stage.free]
        if not start and self._face_down[index]:
            self._has_progress = True
        free[self._kinds[self._columns[index][start - 1]] if start else SPACE] += 1
        return with_item(stage.left, index, start), free

    @cached_property
    def _places(self) -> dict[Card, tuple[int, int]]:
        """The column of each face-up card, and its place there."""
        return {
            card: (index, at)
            for index, column in enumerate(self._columns)
            for at, card in enumerate(column)
        }

    @cached_property
    def _takers(self) -> set[int]:
        """The kinds on which a waiting card can be laid."""
        return {self._goes_on[card] for card in self._ahead.waiting} - {SPACE}

    @cached_property
    def _lowest(self) -> list[int]:
        """For each foundation, the height of the lowest card that may help in a column, or 14.

        A card helps if its kind is wanted: to lay a run, a waiting card or another such card on
        it, or to take over what lies on a card that can be banked.
        """
        kinds, built = self._kinds, BUILT_UP[self._base]
        wanted = set(self._takers)
        for index, column in enumerate(self._columns):
            left = len(column)
            while left:
                left = self._start(index, left)
                wanted.add(self._goes_on[column[left]])
        for cards, top in zip(built, self._up, strict=True):
            on_columns = takewhile(self._places.__contains__, cards[top:])
            wanted.update(kinds[card] for card in on_columns)
        banked = [cards[1:top] for cards, top in zip(built, self._up, strict=True)]
        while (
            more := {self._goes_on[card] for card in chain(*banked) if kinds[card] in wanted}
            - wanted
        ):
            wanted |= more
        return [
            next((height for height, card in enumerate(cards, 2) if kinds[card] in wanted), 14)
            for cards in banked
        ]


@lru_cache
def _kinds(build: Build) -> tuple[dict[Card, int], dict[Card, int]]:
    """Return the kind of every card, and the kind of the cards on which it may be laid.

    The same cards can be laid on cards of one kind.
    """
    numbers: dict[frozenset[Card], int] = {}
    kinds = {card: numbers.setdefault(build.onto[card], len(numbers)) for card in PACK}
    goes_on = {card: kinds[min(build.under[card])] if build.under[card] else SPACE for card in PACK}
    return kinds, goes_on
