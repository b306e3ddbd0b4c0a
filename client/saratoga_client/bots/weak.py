"""The weak bot: it overlooks many moves and never looks ahead, but plays to the end."""

from typing import Final

from saratoga_client.bots.casual import is_banking, turn_of_stock, useful_carries
from saratoga_client.bots.choice import Choice, percent
from saratoga_client.bots.memory import Memory
from saratoga_rules.game import Game
from saratoga_rules.moves import RESERVE, WASTE, Carry
from saratoga_rules.position import View, format_position

BANKS_SEEN: Final = 65
"""Percentage of the cards that could be banked that the bot sees in one pass through the stock."""

CARRIES_SEEN: Final = 45
"""Percentage of the other useful carries that the bot sees in one pass through the stock."""


def choose_weakly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose a move like a careless beginner, who looks closely only when there is nothing to draw."""
    carries = useful_carries(game, view)
    turn = turn_of_stock(game, view, memory)
    if turn is not None:
        carries = [move for move in carries if _is_seen(view, move, memory.variation)]
    if not carries:
        return Choice(turn, memory)
    chance = percent(format_position(view), memory.moves, memory.variation)
    return Choice(carries[chance % len(carries)], memory)


def _is_seen(view: View, move: Carry, variation: int) -> bool:
    """Return whether the bot sees a move: the same cards are overlooked until the next pass."""
    card = _carried(view, move)
    if is_banking(move):
        return percent(card, move.target, view.passes, variation) < BANKS_SEEN
    lower = view.columns[move.destination][-1:]
    return percent(card, lower, view.passes, variation) < CARRIES_SEEN


def _carried(view: View, move: Carry) -> object:
    """Return the lowest card of those that a move carries."""
    if move.source == WASTE:
        return view.waste[-1]
    if move.source == RESERVE:
        return view.reserve[-1]
    return view.columns[move.origin][-move.count]
