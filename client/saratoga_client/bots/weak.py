"""The weak bot: plays what it happens to see, likes to bank, and soon loses patience.

It looks no move ahead and misses things, as somebody does who plays patience while talking.
"""

from binascii import crc32
from typing import Final

from saratoga_client.bots.choice import Choice
from saratoga_client.bots.memory import Memory
from saratoga_rules.game import Game
from saratoga_rules.judge import legal_moves
from saratoga_rules.moves import DOWN, UP, Carry, Draw, Move, Redeal
from saratoga_rules.position import format_position
from saratoga_rules.views import View

SEES_A_BANKING_MOVE: Final = 60
"""In how many of 100 cases."""

TRIES_A_MOVE: Final = 45
"""In how many of 100 cases it carries some card before it turns the stock."""

PATIENCE: Final = 40
"""After so many moves that brought nothing new it cashes out."""

MOST_PASSES: Final = 4
"""It goes through the stock so often, and then turns nothing over any more."""


def choose_weakly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose as a careless beginner would."""
    moves = [move for move in legal_moves(game, view) if not _is_shunned(move, view)]
    if not moves or memory.idle >= PATIENCE:
        return Choice(None, memory)
    chance = crc32(f"{format_position(view)} {memory.moves} {memory.temper}".encode())
    return Choice(_pick(moves, chance), memory)


def _pick(moves: list[Move], chance: int) -> Move:
    carries = [move for move in moves if isinstance(move, Carry)]
    banking = [move for move in carries if move.target in (UP, DOWN)]
    turning = [move for move in moves if not isinstance(move, Carry)]
    chance, roll = divmod(chance, 100)
    if banking and roll < SEES_A_BANKING_MOVE:
        return banking[chance % len(banking)]
    chance, roll = divmod(chance, 100)
    if carries and (roll < TRIES_A_MOVE or not turning):
        return carries[chance % len(carries)]
    return turning[0]


def _is_shunned(move: Move, view: View) -> bool:
    """What does not occur to it: to take a card back, or to go through the stock once more."""
    match move:
        case Carry(source=source):
            return source.startswith(f"{UP}.")
        case Redeal():
            return view.passes >= MOST_PASSES
        case Draw():
            return False
