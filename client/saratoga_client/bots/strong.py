"""The strong bot: it searches ahead and remembers the stock.

The bot plays the best moves that it finds before the next unknown card. If no moves improve the
position, the bot draws while the next stock card is unknown. If that card is known, the bot searches
deeper, and cashes out if that search finds nothing either.
"""

from dataclasses import replace
from typing import Final

from saratoga_client.bots.choice import Choice
from saratoga_client.bots.evaluation import evaluator, weights_of
from saratoga_client.bots.memory import Memory, recall
from saratoga_client.bots.search import look_ahead
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.moves import DRAW, Move
from saratoga_rules.play import refusal
from saratoga_rules.position import View

MOST_IDLE_MOVES: Final = 300
"""Moves in a row without progress after which the bot cashes out."""


def choose_strongly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose a move like a good player who remembers every card."""
    if memory.idle >= MOST_IDLE_MOVES:
        return Choice(None, memory)
    if memory.plan and refusal(game, view, memory.plan[0]) is None:
        return _follow(memory, memory.plan)
    position = recall(view, memory)
    weights = weights_of(game, memory.variation)
    evaluate = evaluator(game, weights)
    if plan := look_ahead(game, position, evaluate, weights.looks):
        return _follow(memory, plan)
    if position.stock and position.stock[0] is HIDDEN:
        return _follow(memory, (DRAW,))
    return _follow(memory, look_ahead(game, position, evaluate, weights.last_looks))


def _follow(memory: Memory, plan: tuple[Move, ...]) -> Choice:
    """Return the first move of a plan and remember the others; without a plan, stop."""
    if not plan:
        return Choice(None, memory)
    return Choice(plan[0], replace(memory, plan=plan[1:]))
