"""What a bot carries from one move to the next: what it has seen, and what it means to do.

Nothing in it goes beyond what an attentive player could remember. The stock is known after the
waste was turned over, because every card of it has been seen, in that order.
"""

from dataclasses import dataclass, replace

from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import Draw, Move, Redeal
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.views import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A bot's memory of one board."""

    temper: int = 0
    """What makes this bot play a little differently from others of its strength."""
    stock: tuple[Card, ...] = ()
    """The stock in the order in which it will be drawn, where it has been seen; else empty."""
    plan: tuple[Move, ...] = ()
    """The moves that are to follow, as long as nothing unforeseen turns up."""
    moves: int = 0
    """How many moves the bot has made."""
    idle: int = 0
    """How many of the last moves brought nothing new."""
    most_banked: int = 0
    fewest_in_hand: int = 1 << 30
    """Of the stock, the waste and the reserve together."""


def recall(view: View, memory: Memory) -> Position:
    """The view with the stock filled in where it is remembered."""
    if memory.stock and len(memory.stock) == len(view.stock):
        return view._replace(stock=memory.stock)
    return view


def remember(game: Game, memory: Memory, before: View, move: Move, after: View) -> Memory:
    """The memory after `move` led from one view to the next."""
    in_hand = len(after.stock) + len(after.waste) + len(after.reserve)
    is_new = (
        after.banked > memory.most_banked
        or in_hand < memory.fewest_in_hand
        or (isinstance(move, Draw) and not memory.stock)
    )
    return replace(
        memory,
        stock=_stock(game, memory, before, move, after),
        moves=memory.moves + 1,
        idle=0 if is_new else memory.idle + 1,
        most_banked=max(memory.most_banked, after.banked),
        fewest_in_hand=min(memory.fewest_in_hand, in_hand),
    )


def _stock(game: Game, memory: Memory, before: View, move: Move, after: View) -> tuple[Card, ...]:
    """The stock, as far as it is known to the last card; else nothing."""
    if isinstance(move, Redeal):
        return before.waste
    if len(memory.stock) != len(before.stock):
        return ()
    drawn = len(before.stock) - len(after.stock)
    return memory.stock[drawn:] if game.stock.onto is Pile.WASTE else ()
