"""The judge: `refusal` returns why a move may not be played, or `None` if it may.

`play`, `legal_moves`, the server and the clients all call it; legality is decided nowhere else.
Moves between columns are judged by `Columns.refusal`. No rule looks at a hidden card, so a view is
judged exactly like the position that it shows.
"""

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.effects import after
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
from saratoga_rules.proposals import proposals
from saratoga_rules.refusals import IllegalMove, Refusal
from saratoga_rules.vocabulary.foundations import rank_at, wanted_down, wanted_up

__all__ = ["IllegalMove", "Refusal", "is_won", "legal_moves", "play", "refusal"]


def play(game: Game, position: Position, move: Move) -> Position:
    """Return the position after a move; raise `IllegalMove` with the refusal if it is not legal."""
    refused = refusal(game, position, move)
    if refused is not None:
        raise IllegalMove(move, refused)
    return after(game, position, move)


def legal_moves(game: Game, position: Position) -> list[Move]:
    """Return every move that may be played, each once."""
    _, _, _, up, down, columns, base, _, _ = position
    offer = game.columns.offer(columns, position.face_down_counts, up, down, base)
    moves: list[Move] = [*offer.carries]
    for move in proposals(game, position, offer):
        if refusal(game, position, move) is None:
            moves.append(move)  # noqa: PERF401 (measured)
    return moves


def is_won(game: Game, position: Position) -> bool:
    return game.goal(position)


def refusal(game: Game, position: Position, move: Move) -> Refusal | None:
    """Return why a move may not be played; `None` if it may."""
    match move:
        case Carry():
            if move.origin >= 0:
                return _refused_from_column(game, position, move)
            if move.count != 1:
                return Refusal.ONE_AT_A_TIME
            if move.source == WASTE:
                return _refused_from_pile(game, position, move, position.waste, Pile.WASTE)
            if move.source == RESERVE:
                return _refused_from_pile(game, position, move, position.reserve, Pile.RESERVE)
            return _refused_take_back(game, position, move)
        case Draw():
            return None if position.stock else Refusal.STOCK_IS_EMPTY
        case Redeal():
            return _refused_redeal(game, position)


def _refused_redeal(game: Game, position: Position) -> Refusal | None:
    if game.stock.passes == 1:
        return Refusal.NO_REDEALS
    if position.stock:
        return Refusal.STOCK_REMAINS
    if position.passes >= game.stock.passes:
        return Refusal.NO_REDEAL_LEFT
    if not position.waste:
        return Refusal.NOTHING_TO_REDEAL
    return None


def _refused_from_column(game: Game, position: Position, move: Carry) -> Refusal | None:
    columns = position.columns
    destination = move.destination
    if move.origin >= len(columns) or destination >= len(columns):
        return Refusal.NO_SUCH_PILE
    column = columns[move.origin]
    count = move.count
    below = len(position.face_down[move.origin]) if position.face_down else 0
    if not 0 < count <= len(column):
        if len(column) < count <= len(column) + below:
            return Refusal.NOT_A_PACKET
        return Refusal.NOT_SO_MANY if column else Refusal.NOTHING_TO_CARRY
    if destination < 0:
        if count != 1:
            return Refusal.ONE_AT_A_TIME
        return _refused_on_foundation(position, move.target, column[-1])
    return game.columns.refusal(columns, below, move)


def _refused_from_pile(
    game: Game, position: Position, move: Carry, pile: tuple[Card, ...], source: Pile
) -> Refusal | None:
    if move.destination >= len(position.columns):
        return Refusal.NO_SUCH_PILE
    if not pile:
        return Refusal.NOTHING_TO_CARRY
    if move.destination < 0:
        return _refused_on_foundation(position, move.target, pile[-1])
    return game.columns.refusal_of_card(position.columns[move.destination], source, pile[-1])


def _refused_take_back(game: Game, position: Position, move: Carry) -> Refusal | None:
    index = TAKE_BACK_INDEX.get(move.source)
    if index is None or move.destination >= len(position.columns):
        return Refusal.NO_SUCH_PILE
    if not game.up.gives_back:
        return Refusal.NOT_FROM_FOUNDATIONS
    if move.destination < 0:
        return Refusal.ONLY_INTO_COLUMNS
    height = position.up[index]
    if height == 0:
        return Refusal.NOTHING_TO_CARRY
    if height == 1:
        return Refusal.FIRST_CARD_STAYS
    card = card_of(rank_at(position.base, height), SUITS[index])
    column = position.columns[move.destination]
    return game.columns.refusal_of_card(column, Pile.FOUNDATION, card)


def _refused_on_foundation(position: Position, target: str, card: Card) -> Refusal | None:
    if target == UP:
        wanted = wanted_up(position.up, position.base)
    elif target == DOWN and position.down:
        wanted = wanted_down(position.down)
    else:
        return Refusal.NO_SUCH_PILE
    return None if card in wanted else Refusal.FOUNDATION_WAITS
