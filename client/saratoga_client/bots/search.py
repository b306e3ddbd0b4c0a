"""Best-first search for the best position that a bot can reach with known cards. Pure.

A step carries a card, after drawing as many known cards of the stock as needed. The search does not
go beyond a position in which an unknown card is turned up.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from itertools import zip_longest
from typing import Final, NamedTuple

from saratoga_rules.analysis import Analysis
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.moves import DRAW, REDEAL, WASTE, Carry, Move
from saratoga_rules.piles import Pile
from saratoga_rules.play import play
from saratoga_rules.position import Position


class _Node(NamedTuple):
    position: Position
    plan: tuple[Move, ...]


EPSILON: Final = 1e-9
"""Differences of evaluations below this are rounding errors."""


def look_ahead(
    game: Game, start: Position, evaluate: Callable[[Position], float], limit: int
) -> tuple[Move, ...]:
    """Return the moves to the best position among `limit` searched ones.

    Return no moves if none is better than `start`.
    """
    best, best_value = _Node(start, ()), evaluate(start)
    seen = {_form(start)}
    heap = [(-best_value, 0, best)]
    looked = 0
    while heap and looked < limit:
        node = heappop(heap)[2]
        for moves, position in _steps(game, node.position):
            form = _form(position)
            if form in seen:
                continue
            seen.add(form)
            looked += 1
            value = evaluate(position)
            found = _Node(position, node.plan + moves)
            if value > best_value + EPSILON:
                best, best_value = found, value
            if not _turns_up(position):
                heappush(heap, (-value, looked, found))
    return best.plan


def _form(position: Position) -> tuple[object, ...]:
    """Return a key that is equal for positions that differ only in the order of their columns."""
    return (
        tuple(sorted(zip_longest(position.columns, position.face_down_counts, fillvalue=0))),
        position.up,
        position.down,
        len(position.reserve),
        position.waste,
        len(position.stock),
    )


def _turns_up(position: Position) -> bool:
    """Return whether an unknown card is turned up in this position."""
    if position.reserve and position.reserve[-1] is HIDDEN:
        return True
    if position.waste and position.waste[-1] is HIDDEN:
        return True
    return any(column and column[-1] is HIDDEN for column in position.columns)


def _steps(game: Game, position: Position) -> Iterator[tuple[tuple[Move, ...], Position]]:
    analysis = Analysis(game, position)
    for move in analysis.legal_moves():
        if isinstance(move, Carry):
            yield (move,), play(game, position, move)
    if game.stock.onto is Pile.WASTE:
        takers, spaces = analysis.targets
        for moves, turned in _turnings(game, position):
            card = turned.waste[-1]
            if not (spaces or card in takers or card in analysis.wanted):
                continue
            for move in Analysis(game, turned, analysis).legal_moves():
                if isinstance(move, Carry) and move.source == WASTE:
                    yield (*moves, move), play(game, turned, move)


def _turnings(game: Game, position: Position) -> Iterator[tuple[tuple[Move, ...], Position]]:
    """Yield the moves and the position for each known card that can be the waste's top card."""
    if position.stock and position.stock[0] is HIDDEN:
        return
    moves: tuple[Move, ...] = ()
    # The cards keep their order, so the size of the waste identifies the position.
    seen = {len(position.waste)}
    while True:
        if position.stock:
            drawn = min(game.stock.draw, len(position.stock))
            moves = (*moves, DRAW)
            position = position._replace(
                waste=position.waste + position.stock[:drawn], stock=position.stock[drawn:]
            )
        elif position.waste and position.passes < game.stock.passes:
            moves = (*moves, REDEAL)
            position = position._replace(stock=position.waste, waste=(), passes=position.passes + 1)
        else:
            return
        if len(position.waste) in seen:
            return
        seen.add(len(position.waste))
        if position.waste:
            yield moves, position
