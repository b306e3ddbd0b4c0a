"""Par: a line of moves that banks many cards, found by a search that knows every card of the deal.

Par is a lower bound: nobody has proved that no line banks more. The search goes through the stock
turn by turn, so that only positions after equally many draws and redeals compete. After each turn
it plays cards best first, and turns the stock only in the best positions that it has found. It is
repeated more and more widely until its budget of positions is used. There is no clock and no chance
in it, so every machine finds the same line.
"""

from collections.abc import Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import product, zip_longest
from typing import Final, NamedTuple, TypeAlias

from saratoga_rules.analysis import Analysis
from saratoga_rules.evaluation import Weights, evaluator, par_weights
from saratoga_rules.game import Game
from saratoga_rules.moves import DRAW, REDEAL, Carry, Move
from saratoga_rules.piles import Pile
from saratoga_rules.play import Refusal, is_won, outcome
from saratoga_rules.position import Position

BUDGET: Final = 50_000
"""Positions that are searched by default: 1 to 4 seconds of a processor."""

_WIDTHS: Final = (30, 100, 300, 1000)
"""Positions that play on after each turn of the stock, in each of the searches."""


class Line(NamedTuple):
    """Moves from a position on, each of them legal, and the cards that have been banked after the last."""

    banked: int
    moves: tuple[Move, ...]


def par(game: Game, start: Position, budget: int = BUDGET) -> Line:
    """Return the best line that a search of `budget` positions finds. Every card of `start` must be known."""
    search = _Search(game, start, budget)
    for width, weights in product(_WIDTHS, par_weights(game)):
        if not search.is_over():
            search.run(width, weights)
    return Line(search.best.position.banked, search.best.moves())


class _Node(NamedTuple):
    position: Position
    analysis: Analysis
    before: "_Node | None"
    move: Move | None

    def moves(self) -> tuple[Move, ...]:
        """Return the moves from the start to this node."""
        node, moves = self, []
        while node.before is not None and node.move is not None:
            moves.append(node.move)
            node = node.before
        return tuple(reversed(moves))


_Ranked: TypeAlias = tuple[float, int, _Node]
"""A node after its negative value and its number, so that the best and the earliest comes first."""


class _Search:
    """The searches of one deal: the best node of all of them, and the positions that are left to search."""

    def __init__(self, game: Game, start: Position, budget: int) -> None:
        self.game = game
        self.start = self.best = _Node(start, Analysis(game, start), None, None)
        self.left = budget
        self.seen: set[tuple[object, ...]] = set()
        """The forms of the positions of the present search."""

    def run(self, width: int, weights: Weights) -> None:
        """Search from the start until the stock brings no new position, or the budget is used."""
        self.evaluate = evaluator(self.game, weights)
        self.seen = {self._form(self.start.position)}
        level: list[_Ranked] = [(0.0, 0, self.start)]
        while level and not self.is_over():
            found = sorted(self._play_on(level, width))
            level = []
            for _, _, node in found[:width]:
                level += self._children(node, (DRAW if node.position.stock else REDEAL,))

    def is_over(self) -> bool:
        return self.left <= 0 or is_won(self.game, self.best.position)

    def _play_on(self, level: list[_Ranked], width: int) -> list[_Ranked]:
        """Return the nodes of a level and those that carries from the best `width` nodes reach."""
        heap = level.copy()
        heapify(heap)
        for _ in range(width):
            if not heap or self.is_over():
                break
            node = heappop(heap)[2]
            carries = (each for each in node.analysis.legal_moves() if isinstance(each, Carry))
            for child in self._children(node, carries):
                level.append(child)
                heappush(heap, child)
        return level

    def _children(self, node: _Node, moves: Iterable[Move]) -> Iterator[_Ranked]:
        """Yield the new positions after these moves, as far as they may be played."""
        for move in moves:
            after = outcome(self.game, node.position, move)
            if isinstance(after, Refusal):
                continue
            form = self._form(after)
            if form in self.seen:
                continue
            self.seen.add(form)
            self.left -= 1
            child = _Node(after, Analysis(self.game, after, node.analysis), node, move)
            if after.banked > self.best.position.banked:
                self.best = child
            yield -self.evaluate(after), -self.left, child

    def _form(self, position: Position) -> tuple[object, ...]:
        """Return a key that is equal for positions of one deal that differ only in what does not matter.

        That is the order of columns, unless the stock is dealt to them, and the number of the pass,
        because the position that was found first used the fewest.
        """
        stock, waste, reserve, up, down, columns, _, _, face_down = position
        piles: Iterable[object] = zip_longest(columns, map(len, face_down), fillvalue=0)
        if self.game.stock.onto is Pile.WASTE:
            piles = sorted(piles)  # type: ignore[type-var]
        return (*piles, up, down, waste, len(reserve), len(stock))
