"""The pause before each of a bot's moves, in seconds: steady, or like a person's. Pure.

A person looks at the deal first, takes longer over a hard choice than over an obvious move, and rests now
and then. The pauses depend only on what the bot sees and remembers, and on its variation.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from saratoga_client.bots.choose import Choice, is_banking, percent
from saratoga_client.bots.memory import Memory
from saratoga_rules.analysis import legal_moves
from saratoga_rules.game import Game
from saratoga_rules.moves import Carry, Draw
from saratoga_rules.position import View, format_position

AT_THE_DEAL: Final = 4.0
BEFORE_CASHING_OUT: Final = 3.0
BANK_AFTER_BANK: Final = 0.45
DRAW: Final = 0.75
"""Pause before a draw or a redeal."""
PLANNED: Final = 0.9
"""Pause before another move that continues a plan."""
CHOICE: Final = 1.3
"""Pause before any other move, to which the following are added."""
PER_CARRY: Final = 0.08
"""For each legal carry: there is more to compare."""
PER_STEP: Final = 0.15
"""For each further move of the plan that begins: it took longer to find."""
MOST_COUNTED: Final = 12
"""The most carries, and the most further moves, that a pause is longer for."""
NEW_CARD: Final = 0.3
"""Addition to these, and to a draw, after a draw of cards that the bot had not seen."""
REST: Final = 3.0
RESTS: Final = 4
"""Percentage of moves with a rest before them."""
VARIATION: Final = 0.35
"""Fraction by which a pause varies, up or down."""

Pace: TypeAlias = Callable[[Game, View, Memory, Choice], float]
"""A function that returns how many seconds a bot waits before a choice that it made with a memory."""


def steady_pace(moves_per_second: float) -> Pace:
    """Return a pace of so many moves per second; 0 for no pauses."""
    seconds = 1 / moves_per_second if moves_per_second > 0 else 0.0
    return lambda _game, view, memory, _choice: seconds * _varied(view, memory)


def human_pace(game: Game, view: View, memory: Memory, choice: Choice) -> float:
    """Return the pause before a move of a bot that plays like a person: about one move a second."""
    pause = _thought(game, view, memory, choice) * _varied(view, memory)
    rests = percent(format_position(view), memory.moves, memory.variation, "rest") < RESTS
    return pause + REST if rests else pause


def _varied(view: View, memory: Memory) -> float:
    """Return a factor around 1."""
    chance = percent(format_position(view), memory.moves, memory.variation, "pause")
    return 1 + VARIATION * (chance - 49.5) / 49.5


def _thought(game: Game, view: View, memory: Memory, choice: Choice) -> float:
    if memory.last is None:
        return AT_THE_DEAL
    if choice.move is None:
        return BEFORE_CASHING_OUT
    if is_banking(choice.move) and is_banking(memory.last):
        return BANK_AFTER_BANK
    new_card = NEW_CARD if isinstance(memory.last, Draw) and not memory.stock else 0.0
    if not isinstance(choice.move, Carry):
        return DRAW + new_card
    if memory.plan[:1] == (choice.move,):
        return PLANNED
    carries = sum(isinstance(move, Carry) for move in legal_moves(game, view))
    compared = PER_CARRY * min(carries, MOST_COUNTED)
    return CHOICE + new_card + compared + PER_STEP * min(len(choice.memory.plan), MOST_COUNTED)
