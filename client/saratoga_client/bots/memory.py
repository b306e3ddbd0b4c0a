"""A bot's memory between moves: the cards it has seen, and its plan.

The memory contains only what an attentive player could remember. After a redeal the order of the
stock is known, because every card of it was seen on the waste.
"""

from dataclasses import dataclass, replace

from saratoga_rules.cards import Card
from saratoga_rules.game import Game
from saratoga_rules.moves import Draw, Move, Redeal
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A bot's memory of one board."""

    variation: int = 0
    """A seed for small differences in play between bots of one strength; 0 for none."""
    stock: tuple[Card, ...] = ()
    """The stock in drawing order, once it is known; else empty."""
    plan: tuple[Move, ...] = ()
    """The next moves of the plan."""
    last: Move | None = None
    """The last move; `None` at the deal."""
    moves: int = 0
    """Number of moves made."""
    idle: int = 0
    """Number of moves in a row without progress."""
    most_banked: int = 0
    fewest_in_hand: int = 1 << 30
    """Smallest number of cards in stock, waste and reserve and face down in columns, together, so far."""


def recall(view: View, memory: Memory) -> Position:
    """Return the view with the remembered stock filled in."""
    if memory.stock and len(memory.stock) == len(view.stock):
        return view._replace(stock=memory.stock)
    return view


def remember(game: Game, memory: Memory, before: View, move: Move, after: View) -> Memory:
    """Return the memory after a move changed the view from `before` to `after`."""
    in_hand = len(after.stock) + len(after.waste) + len(after.reserve)
    in_hand += sum(after.face_down_counts)
    is_new = (
        after.banked > memory.most_banked
        or in_hand < memory.fewest_in_hand
        or (isinstance(move, Draw) and not memory.stock)
    )
    return replace(
        memory,
        stock=_stock(game, memory, before, move, after),
        last=move,
        moves=memory.moves + 1,
        idle=0 if is_new else memory.idle + 1,
        most_banked=max(memory.most_banked, after.banked),
        fewest_in_hand=min(memory.fewest_in_hand, in_hand),
    )


def _stock(game: Game, memory: Memory, before: View, move: Move, after: View) -> tuple[Card, ...]:
    """Return the stock if all of it is known, else an empty tuple."""
    if isinstance(move, Redeal):
        return before.waste
    if len(memory.stock) != len(before.stock):
        return ()
    drawn = len(before.stock) - len(after.stock)
    return memory.stock[drawn:] if game.stock.onto is Pile.WASTE else ()
