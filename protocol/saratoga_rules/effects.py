"""Apply a legal move to a position.

The judge has checked the move before. A face-down card turns up as part of the move that uncovered it.
A space that is filled automatically is filled as part of the move that made it.
"""

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Draw,
    Move,
    Redeal,
)
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import rank_at, wanted_down, wanted_up


def after(game: Game, position: Position, move: Move) -> Position:
    """Return the position after a move that the judge allows."""
    match move:
        case Carry():
            return _carried(game, position, move)
        case Draw():
            if game.stock.onto is Pile.COLUMN:
                return _dealt(position)
            return _turned(game.stock.draw, position)
        case Redeal():
            return _turned_over(position)


def _turned(count: int, position: Position) -> Position:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    # one by one, so that the last card turned is on top
    waste += stock[:count]
    return Position(stock[count:], waste, reserve, up, down, columns, base, passes, face_down)


def _dealt(position: Position) -> Position:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    row = stock[: len(columns)]
    grown = tuple([(*column, card) for column, card in zip(columns, row, strict=False)])
    grown += columns[len(row) :]
    return Position(stock[len(row) :], waste, reserve, up, down, grown, base, passes, face_down)


def _turned_over(position: Position) -> Position:
    _, waste, reserve, up, down, columns, base, passes, face_down = position
    # the waste's lowest card was drawn first, and is drawn first again
    return Position(waste, (), reserve, up, down, columns, base, passes + 1, face_down)


def _carried(game: Game, position: Position, move: Carry) -> Position:
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    piles = list(columns)
    origin = move.origin
    if origin >= 0:
        pile = piles[origin]
        packet = pile[-move.count :]
        piles[origin] = pile[: -move.count]
    elif move.source == WASTE:
        packet, waste = waste[-1:], waste[:-1]
    elif move.source == RESERVE:
        packet, reserve = reserve[-1:], reserve[:-1]
    else:
        packet, up = _taken_back(up, base, TAKE_BACK_INDEX[move.source])
    if move.target == UP:
        up = _grown(up, wanted_up(up, base)[packet[0]])
    elif move.target == DOWN:
        down = _grown(down, wanted_down(down)[packet[0]])
    else:
        piles[move.destination] += packet
    if origin >= 0 and not piles[origin]:
        filled_from = game.columns.space.filled_from
        if face_down and face_down[origin]:
            piles[origin] = face_down[origin][-1:]
            face_down = _uncovered(face_down, origin)
        elif filled_from is Pile.RESERVE:
            piles[origin], reserve = reserve[-1:], reserve[:-1]
        elif filled_from is Pile.STOCK:
            piles[origin], stock = stock[:1], stock[1:]
    return Position(stock, waste, reserve, up, down, tuple(piles), base, passes, face_down)


def _uncovered(face_down: tuple[tuple[Card, ...], ...], index: int) -> tuple[tuple[Card, ...], ...]:
    """Return the face-down cards that are left when the last one of a column turns up."""
    left = (*face_down[:index], face_down[index][:-1], *face_down[index + 1 :])
    return left if any(left) else ()


def _grown(heights: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*heights[:index], heights[index] + 1, *heights[index + 1 :])


def _taken_back(
    up: tuple[int, ...], base: int, index: int
) -> tuple[tuple[Card, ...], tuple[int, ...]]:
    card = card_of(rank_at(base, up[index]), SUITS[index])
    return (card,), (*up[:index], up[index] - 1, *up[index + 1 :])
