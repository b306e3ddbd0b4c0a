"""The strong bot: looks ahead as far as it can see, and remembers the stock.

It plays the best line it finds up to the next card it has not seen; where no line is better than
staying, it draws, as long as that shows something new; else it looks once more and deeper, and
then cashes out.
"""

from dataclasses import replace
from typing import Final

from saratoga_client.bots.choice import Choice
from saratoga_client.bots.evaluation import weights_of, worth_in
from saratoga_client.bots.memory import Memory, recall
from saratoga_client.bots.search import look_ahead
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.judge import refusal
from saratoga_rules.moves import DRAW, Move
from saratoga_rules.views import View

PATIENCE: Final = 300
"""After so many moves that brought nothing new it cashes out, whatever it hopes for."""


def choose_strongly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose as a good player would who remembers every card."""
    if memory.idle >= PATIENCE:
        return Choice(None, memory)
    if memory.plan and refusal(game, view, memory.plan[0]) is None:
        return _follow(memory, memory.plan)
    position = recall(view, memory)
    weights = weights_of(game, memory.temper)
    worth = worth_in(game, weights)
    if plan := look_ahead(game, position, worth, weights.looks):
        return _follow(memory, plan)
    if position.stock and position.stock[0] is HIDDEN:
        return _follow(memory, (DRAW,))
    return _follow(memory, look_ahead(game, position, worth, weights.last_looks))


def _follow(memory: Memory, plan: tuple[Move, ...]) -> Choice:
    """Make the first move of a plan and remember the others; without a plan, stop."""
    if not plan:
        return Choice(None, memory)
    return Choice(plan[0], replace(memory, plan=plan[1:]))
