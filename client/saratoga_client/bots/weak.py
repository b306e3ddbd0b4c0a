"""The weak bot: it overlooks moves, never looks ahead, and soon cashes out."""

from binascii import crc32
from typing import Final

from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory
from saratoga_rules.game import Game
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DOWN, UP, Carry, Draw, Move, Redeal
from saratoga_rules.position import format_position
from saratoga_rules.views import View

BANK_PERCENT: Final = 60
"""Percentage of positions in which the bot banks a card that it could bank."""

CARRY_PERCENT: Final = 45
"""Percentage of positions in which the bot carries a card instead of drawing."""

MOST_IDLE_MOVES: Final = 40
"""Moves in a row without progress after which the bot cashes out."""

MOST_PASSES: Final = 4
"""Passes through the stock after which the bot makes no redeal."""


def choose_weakly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose a move like a careless beginner."""
    moves = [move for move in legal_moves(game, view) if not _is_avoided(move, view)]
    if not moves or memory.idle >= MOST_IDLE_MOVES:
        return Choice(None, memory)
    chance = crc32(f"{format_position(view)} {memory.moves} {memory.variation}".encode())
    return Choice(_pick(moves, chance), memory)


def _pick(moves: list[Move], chance: int) -> Move:
    carries = [move for move in moves if isinstance(move, Carry)]
    banking = [move for move in carries if move.target in (UP, DOWN)]
    turning = [move for move in moves if not isinstance(move, Carry)]
    chance, roll = divmod(chance, 100)
    if banking and roll < BANK_PERCENT:
        return banking[chance % len(banking)]
    chance, roll = divmod(chance, 100)
    if carries and (roll < CARRY_PERCENT or not turning):
        return carries[chance % len(carries)]
    return turning[0]


def _is_avoided(move: Move, view: View) -> bool:
    """Return whether the weak bot never makes this move: a take-back, or a late redeal."""
    match move:
        case Carry(source=source):
            return source.startswith(f"{UP}.")
        case Redeal():
            return view.passes >= MOST_PASSES
        case Draw():
            return False
