"""The search for progress in any game: through every arrangement that neutral moves reach."""

from typing import NamedTuple

from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.piles import Pile
from saratoga_rules.position import NO_CARDS, Cards, Heights, Position, with_item
from saratoga_rules.stuck.prospects import Prospects
from saratoga_rules.vocabulary.foundations import BUILT_UP, wanted_up


class Arrangement(NamedTuple):
    """The part of a position that neutral moves change: columns and foundations built up."""

    columns: tuple[Cards, ...]
    """The face-up cards of the columns: first of those with face-down cards, then of the others.
    Both groups are sorted, because the order of columns does not matter."""
    up: Heights


class ArrangementSearch:
    """A search of the arrangements that neutral moves reach, until progress is found.

    No progress move may be in sight at the start. Every arrangement is checked once, when it is
    found, and only the piles that the last move changed. No face-down card is read: any that turns
    up is progress, so a column that has face-down cards keeps them as long as the search goes on.
    """

    def __init__(self, game: Game, position: Position, ahead: Prospects) -> None:
        self._game = game
        self._base = position.base
        self._banked = sum(position.up)
        self._ahead = ahead
        self._hopes: dict[Heights, frozenset[Card]] = {}
        face_down = position.face_down_counts or (0,) * len(position.columns)
        piles = list(zip(position.columns, face_down, strict=True))
        covering = sorted(column for column, below in piles if below)
        others = sorted(column for column, below in piles if not below)
        self._covering = len(covering)
        start = Arrangement((*covering, *others), position.up)
        self._seen = {start}
        self._waiting = [start]
        self._has_progress = False

    def advance(self, arrangements: int) -> bool | None:
        """Search some more arrangements. Return whether the board is stuck; `None` if unknown."""
        while self._waiting and not self._has_progress and arrangements > 0:
            arrangements -= 1
            arrangement = self._waiting.pop()
            self._carry_within(arrangement)
            if self._game.up.gives_back:
                self._take_back(arrangement)
                self._put_up(arrangement)
        if self._has_progress:
            return False
        return None if self._waiting else True

    def _hopes_at(self, up: Heights) -> frozenset[Card]:
        """Return the cards whose uncovering is progress with the foundations at these heights."""
        hopes = self._hopes.get(up)
        if hopes is None:
            banked_before = sum(up) < self._banked
            wanted = () if banked_before else wanted_up(up, self._base)
            hopes = self._hopes[up] = self._ahead.hopes.union(wanted)
        return hopes

    def _carry_within(self, arrangement: Arrangement) -> None:
        columns, up = arrangement
        rules, hopes, covering = self._game.columns, self._hopes_at(up), self._covering
        takers: dict[Card, list[int]] = {}
        for index, column in enumerate(columns):
            for card in rules.build.onto[column[-1]] if column else ():
                takers.setdefault(card, []).append(index)
        # the empty columns sort first; none of them has face-down cards
        has_space = covering < len(columns) and not columns[covering]
        into_spaces = rules.space.admits.cards_from(Pile.COLUMN) if has_space else NO_CARDS
        carries: list[tuple[int, int, int]] = []
        for origin, column in enumerate(columns):
            for count in rules.packet.sizes(column, rules.build):
                card = column[-count]
                found = len(carries)
                for target in takers.get(card, ()):
                    if target != origin:
                        carries.append((origin, target, count))  # noqa: PERF401 (measured)
                if card in into_spaces and (count < len(column) or origin < covering):
                    carries.append((origin, covering, count))
                if len(carries) > found and self._uncovers(origin, column[:-count], hopes):
                    self._has_progress = True
                    return
        for origin, target, count in carries:
            piles = list(columns)
            piles[target] += piles[origin][-count:]
            piles[origin] = piles[origin][:-count]
            self._find(piles, up)

    def _take_back(self, arrangement: Arrangement) -> None:
        columns, up = arrangement
        rules = self._game.columns
        for index, height in enumerate(up):
            if height < 2:
                continue
            card = BUILT_UP[self._base][index][height - 1]
            lower = with_item(up, index, height - 1)
            for target, column in enumerate(columns):
                if (
                    card in rules.build.onto[column[-1]]
                    if column
                    else rules.space.admits(Pile.FOUNDATION, card)
                ):
                    piles = list(columns)
                    piles[target] = (*column, card)
                    self._find_with_foundations(piles, lower)

    def _put_up(self, arrangement: Arrangement) -> None:
        columns, up = arrangement
        wanted = wanted_up(up, self._base)
        for origin, column in enumerate(columns):
            if column and column[-1] in wanted:
                index = wanted[column[-1]]
                higher = with_item(up, index, up[index] + 1)
                piles = list(columns)
                piles[origin] = column[:-1]
                if not self._uncovers(origin, piles[origin], self._hopes_at(higher)):
                    self._find_with_foundations(piles, higher)
                else:
                    self._has_progress = True

    def _uncovers(self, index: int, rest: Cards, hopes: frozenset[Card]) -> bool:
        """Return whether a column whose face-up cards are reduced to `rest` gives progress."""
        if rest:
            return rest[-1] in hopes
        return index < self._covering or self._ahead.space_helps

    def _find_with_foundations(self, piles: list[Cards], up: Heights) -> None:
        wanted, hopes = wanted_up(up, self._base), self._hopes_at(up)
        if not wanted.keys().isdisjoint(self._ahead.waiting) or any(
            column[-1] in hopes for column in piles if column
        ):
            self._has_progress = True
        self._find(piles, up)

    def _find(self, piles: list[Cards], up: Heights) -> None:
        covering = self._covering
        found = Arrangement((*sorted(piles[:covering]), *sorted(piles[covering:])), up)
        known = len(self._seen)
        self._seen.add(found)  # hashed once: it is long
        if len(self._seen) > known:
            self._waiting.append(found)
