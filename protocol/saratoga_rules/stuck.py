"""No more points to be made: the exact test, and when the house may act on it.

A *progress move* takes a card from the reserve or the waste, or makes a space fill itself, or
leaves more cards banked than there are now. Every other carry is *neutral*: from column to
column, or back from a foundation and up again. A position is stuck when no progress move can be
reached by neutral moves, draws and redeals: then the final count is certain, however long one
shuffles cards from here to there.

Neutral moves touch neither stock nor waste. So it is enough to go through the arrangements of
columns and foundations that neutral moves reach, and to try in each of them every card that draws
and redeals alone can bring to the top of the waste.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.foundations import rank_at, wanted_down, wanted_up
from saratoga_rules.game import Game
from saratoga_rules.judge import is_won
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position

DEFAULT_LIMIT: Final = 20_000
"""Arrangements to look at before giving up, where nobody is waiting."""

INLINE_LIMIT: Final = 20
"""Arrangements that may be looked at between a move and its answer: 2 ms."""


def is_stuck(game: Game, position: Position, limit: int = DEFAULT_LIMIT) -> bool | None:
    """Whether no more points can be made; `None` if `limit` arrangements do not prove it."""
    return StuckSearch(game, position).advance(limit)


def may_declare(position: Position) -> bool:
    """Whether every stock card has been seen: before that a verdict would tell of hidden cards."""
    return not position.stock or position.passes > 1


def coming_tops(game: Game, position: Position) -> frozenset[Card]:
    """Every card that draws and redeals alone can bring to the top of the waste."""
    stock, waste, draw = position.stock, position.waste, game.stock.draw
    tops = set(waste[-1:])
    if game.stock.onto is Pile.WASTE:
        tops.update(stock[draw - 1 :: draw], stock[-1:])
        if position.passes < game.stock.passes:
            turned_over = waste + stock
            tops.update(turned_over[draw - 1 :: draw], turned_over[-1:])
    return frozenset(tops)


class Arrangement(NamedTuple):
    """What neutral moves change; the columns in an order of their own, since it does not matter."""

    columns: tuple[tuple[Card, ...], ...]
    up: tuple[int, ...]
    down: tuple[int, ...]


class StuckSearch:
    """A search that can be left and taken up again, so that nobody waits for a long one."""

    def __init__(self, game: Game, position: Position) -> None:
        self._game = game
        self._base = position.base
        self._banked = position.banked
        self._coming = coming_tops(game, position)
        self._reserve_top = frozenset(position.reserve[-1:])
        self._fills = bool(
            (position.reserve and game.columns.space.filled_from is Pile.RESERVE)
            or (position.stock and game.columns.space.filled_from is Pile.STOCK)
        )
        start = Arrangement(tuple(sorted(position.columns)), position.up, position.down)
        self._seen = {start}
        self._waiting = [start]
        self._progress = is_won(game, position) or bool(
            position.stock and game.stock.onto is Pile.COLUMN
        )

    def advance(self, arrangements: int) -> bool | None:
        """Look at so many more arrangements: stuck, not stuck, or `None` for not known yet."""
        while self._waiting and not self._progress and arrangements > 0:
            arrangements -= 1
            arrangement = self._waiting.pop()
            if self._makes_progress(arrangement):
                self._progress = True
                break
            for neighbour in self._neutral(arrangement):
                if neighbour not in self._seen:
                    self._seen.add(neighbour)
                    self._waiting.append(neighbour)
        if self._progress:
            return False
        return None if self._waiting else True

    def _makes_progress(self, arrangement: Arrangement) -> bool:
        columns = self._game.columns
        wanted = {*wanted_up(arrangement.up, self._base), *wanted_down(arrangement.down)}
        tops = [column[-1] for column in arrangement.columns if column]
        if sum(arrangement.up) + sum(arrangement.down) >= self._banked and not wanted.isdisjoint(
            tops
        ):
            return True
        if self._fills and any(
            len(column) == 1 and column[0] in wanted for column in arrangement.columns
        ):
            return True
        for top in tops:
            wanted |= columns.build.onto[top]
        if not (wanted.isdisjoint(self._coming) and wanted.isdisjoint(self._reserve_top)):
            return True
        if len(tops) < len(arrangement.columns):
            admits = columns.space.admits
            if any(admits(Pile.WASTE, card) for card in self._coming):
                return True
            if any(admits(Pile.RESERVE, card) for card in self._reserve_top):
                return True
        if not self._fills:
            return False
        return any(
            column[0] in columns.build.onto[top]
            and len(column) in columns.packet.sizes(column, columns.build)
            for column in arrangement.columns
            if column
            for top in tops
            if top is not column[-1]
        )

    def _neutral(self, arrangement: Arrangement) -> Iterator[Arrangement]:
        yield from self._column_to_column(arrangement)
        if self._game.up.gives_back:
            yield from self._taken_back(arrangement)
            yield from self._put_up(arrangement)

    def _column_to_column(self, arrangement: Arrangement) -> Iterator[Arrangement]:
        rules = self._game.columns
        for origin, column in enumerate(arrangement.columns):
            if not column:
                continue
            for count in rules.packet.sizes(column, rules.build):
                packet = column[-count:]
                for target, pile in enumerate(arrangement.columns):
                    if target == origin:
                        continue
                    if pile:
                        allowed = packet[0] in rules.build.onto[pile[-1]]
                    else:
                        allowed = count < len(column) and rules.space.admits(Pile.COLUMN, packet[0])
                    if allowed:
                        piles = list(arrangement.columns)
                        piles[origin] = column[:-count]
                        piles[target] += packet
                        yield arrangement._replace(columns=tuple(sorted(piles)))

    def _taken_back(self, arrangement: Arrangement) -> Iterator[Arrangement]:
        rules = self._game.columns
        for index, height in enumerate(arrangement.up):
            if height < 2:
                continue
            card = card_of(rank_at(self._base, height), SUITS[index])
            up = (*arrangement.up[:index], height - 1, *arrangement.up[index + 1 :])
            for target, pile in enumerate(arrangement.columns):
                if (
                    card in rules.build.onto[pile[-1]]
                    if pile
                    else rules.space.admits(Pile.FOUNDATION, card)
                ):
                    piles = list(arrangement.columns)
                    piles[target] = (*pile, card)
                    yield arrangement._replace(columns=tuple(sorted(piles)), up=up)

    def _put_up(self, arrangement: Arrangement) -> Iterator[Arrangement]:
        wanted = wanted_up(arrangement.up, self._base)
        for origin, column in enumerate(arrangement.columns):
            if column and column[-1] in wanted:
                index = wanted[column[-1]]
                up = (
                    *arrangement.up[:index],
                    arrangement.up[index] + 1,
                    *arrangement.up[index + 1 :],
                )
                piles = list(arrangement.columns)
                piles[origin] = column[:-1]
                yield arrangement._replace(columns=tuple(sorted(piles)), up=up)
