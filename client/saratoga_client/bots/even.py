"""The even bot: it plans a few moves ahead, but does not remember the stock and overlooks something now and then."""

from dataclasses import replace
from typing import Final

from saratoga_client.bots.casual import turn_of_stock
from saratoga_client.bots.choice import Choice, percent
from saratoga_client.bots.evaluation import Weights, evaluator
from saratoga_client.bots.memory import Memory
from saratoga_client.bots.search import look_ahead
from saratoga_rules.game import Game
from saratoga_rules.play import refusal
from saratoga_rules.position import View, format_position

WEIGHTS: Final = Weights(reserve=-5, hand=-1, face_down=-5, space=2, joined=1)
"""Weights that any player can name: bank, empty the reserve, play the waste, make spaces and long columns."""

LOOKS: Final = 10
"""Number of positions searched before a plan is chosen."""

OVERLOOKED: Final = 12
"""Percentage of positions in which the bot draws although it could do better."""


def choose_evenly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose a move like a player who knows the game well, but takes it easy."""
    turn = turn_of_stock(game, view, memory)
    overlooks = percent(format_position(view), memory.moves, memory.variation) < OVERLOOKED
    if overlooks and turn is not None:
        return Choice(turn, replace(memory, plan=()))
    if memory.plan and refusal(game, view, memory.plan[0]) is None:
        plan = memory.plan
    else:
        plan = look_ahead(game, view, evaluator(game, WEIGHTS), LOOKS)
    if not plan:
        return Choice(turn, memory)
    return Choice(plan[0], replace(memory, plan=plan[1:]))
