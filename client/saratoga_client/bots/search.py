"""Looking ahead as far as the bot can see: the best it can reach before a card is turned up.

Best-first over positions. A step carries a card, after turning as many known cards of the stock
as it takes; where a step turns up a card that the bot has not seen, the looking ahead ends, since
the card itself is worth seeing. Pure.
"""

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Final, NamedTuple

from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.game import Game
from saratoga_rules.judge import legal_moves, play
from saratoga_rules.moves import DRAW, REDEAL, WASTE, Carry, Move
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up


class _Node(NamedTuple):
    position: Position
    plan: tuple[Move, ...]


CLEARLY: Final = 1e-9
"""Worth is a sum of fractions; less than this is no difference."""


def look_ahead(
    game: Game, start: Position, worth: Callable[[Position], float], limit: int
) -> tuple[Move, ...]:
    """The way to the most worthwhile position within some `limit` of positions looked at.

    Empty if none is better than staying.
    """
    best, best_worth = _Node(start, ()), worth(start)
    seen = {_form(start)}
    heap = [(-best_worth, 0, best)]
    looked = 0
    while heap and looked < limit:
        node = heappop(heap)[2]
        for moves, position in _steps(game, node.position):
            form = _form(position)
            if form in seen:
                continue
            seen.add(form)
            looked += 1
            value = worth(position)
            found = _Node(position, node.plan + moves)
            if value > best_worth + CLEARLY:
                best, best_worth = found, value
            if not _turns_up(position):
                heappush(heap, (-value, looked, found))
    return best.plan


def _form(position: Position) -> tuple[object, ...]:
    """Equal for positions that differ only in the order of their columns."""
    return (
        tuple(sorted(position.columns)),
        position.up,
        position.down,
        len(position.reserve),
        position.waste,
        len(position.stock),
    )


def _turns_up(position: Position) -> bool:
    """Whether a card lies open that the bot has not seen."""
    if position.reserve and position.reserve[-1] is HIDDEN:
        return True
    if position.waste and position.waste[-1] is HIDDEN:
        return True
    return any(column and column[-1] is HIDDEN for column in position.columns)


def _steps(game: Game, position: Position) -> Iterator[tuple[tuple[Move, ...], Position]]:
    for move in legal_moves(game, position):
        if isinstance(move, Carry):
            yield (move,), play(game, position, move)
    if game.stock.onto is Pile.WASTE:
        wanted = _wanted(game, position)
        for moves, turned in _turnings(game, position):
            if turned.waste[-1] not in wanted:
                continue
            for move in legal_moves(game, turned):
                if isinstance(move, Carry) and move.source == WASTE:
                    yield (*moves, move), play(game, turned, move)


def _wanted(game: Game, position: Position) -> frozenset[Card] | set[Card]:
    """The cards that could be played if they came up; judged properly afterwards."""
    wanted: set[Card] = set(wanted_up(position.up, position.base))
    wanted.update(wanted_down(position.down))
    for column in position.columns:
        if column:
            wanted |= game.columns.build.onto[column[-1]]
        else:
            wanted |= game.columns.space.admits.cards
    return wanted


def _turnings(game: Game, position: Position) -> Iterator[tuple[tuple[Move, ...], Position]]:
    """Every other card that can be brought to the top of the waste by turning known cards."""
    if position.stock and position.stock[0] is HIDDEN:
        return
    moves: tuple[Move, ...] = ()
    # the cards keep their order, so how many of them lie on the waste says it all
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
