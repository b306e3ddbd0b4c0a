"""The play that the weak and the even bot share: useful carries, and when no further pass is worth it.

Both end their board like a beginner: when no carry looks useful, and the stock was gone through without
any progress or cannot be turned any more.
"""

from typing import Final

from saratoga_client.bots.memory import Memory
from saratoga_rules.analysis import legal_moves
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, DRAW, REDEAL, UP, Carry, Move
from saratoga_rules.play import refusal
from saratoga_rules.position import View

FRUITLESS_PASSES: Final = 2
"""Passes through the stock without progress after which the bot makes no redeal."""


def is_banking(move: Move) -> bool:
    """Return whether a move carries a card to a foundation."""
    return isinstance(move, Carry) and move.target in (UP, DOWN)


def useful_carries(game: Game, view: View) -> list[Carry]:
    """Return the legal carries that look useful at first sight.

    Taking a card back from a foundation is not, and neither is moving cards that are well placed already.
    """
    return [
        move
        for move in legal_moves(game, view)
        if isinstance(move, Carry) and _is_useful(game, view, move)
    ]


def turn_of_stock(game: Game, view: View, memory: Memory) -> Move | None:
    """Return the draw or the redeal, unless it is illegal or the player sees no point in another pass."""
    if view.stock:
        return DRAW
    moves_in_a_pass = -(-len(view.waste) // game.stock.draw) + 1
    if memory.idle + 1 >= FRUITLESS_PASSES * moves_in_a_pass:
        return None
    return REDEAL if refusal(game, view, REDEAL) is None else None


def _is_useful(game: Game, view: View, move: Carry) -> bool:
    if move.source.startswith(f"{UP}."):
        return False
    if move.origin < 0 or move.destination < 0:
        return True
    column = view.columns[move.origin]
    at = len(column) - move.count
    if at == 0:
        return True  # it makes a space or turns a card up
    return column[at] not in game.columns.build.onto[column[at - 1]]
