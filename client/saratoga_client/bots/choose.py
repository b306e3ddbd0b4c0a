"""The choices of the bots, by strength: weak takes what it sees, even looks at one more move, strong plans.

A bot's memory has only what an attentive player could remember. After a redeal the order of the
stock is known, because every card of it was seen on the waste.
"""

from binascii import crc32
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias, TypeGuard

from saratoga_client.bots.search import look_ahead
from saratoga_client.input.move_text import carried
from saratoga_client.wording import BOT_LEVELS
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.evaluation import Weights, evaluator, weights_of
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, DRAW, REDEAL, UP, Carry, Draw, Move, Redeal
from saratoga_rules.piles import Pile
from saratoga_rules.play import refusal
from saratoga_rules.position import Position, View, format_position


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


def percent(*values: object) -> int:
    """Return a number from 0 to 99 that depends only on the values."""
    return crc32(" ".join(map(str, values)).encode()) % 100


class Choice(NamedTuple):
    """A bot's decision."""

    move: Move | None
    """The move to make; `None` to cash out, because the bot finds no useful move."""
    memory: Memory
    """The memory for the next choice, to be updated by `memory.remember`."""


Chooser: TypeAlias = Callable[[Game, View, Memory], Choice]
"""A function that chooses a legal move, or stops; a game played by its choices always ends."""

FRUITLESS_PASSES: Final = 2
"""Passes through the stock without progress after which the bot makes no redeal."""


def _chance(view: View, memory: Memory) -> int:
    return percent(format_position(view), memory.moves, memory.variation)


def is_banking(move: Move) -> TypeGuard[Carry]:
    """Return whether a move carries a card to a foundation."""
    return isinstance(move, Carry) and move.target in (UP, DOWN)


def useful_carries(game: Game, view: View) -> list[Carry]:
    """Return the legal carries that look useful at first sight.

    Taking a card back from a foundation is not, and neither is moving cards that are well placed
    already.
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
    return Choice(carries[_chance(view, memory) % len(carries)], memory)


def _is_seen(view: View, move: Carry, variation: int) -> bool:
    """Return whether the bot sees a move: the same cards are overlooked until the next pass."""
    card = carried(view, move)[0]
    if is_banking(move):
        return percent(card, move.target, view.passes, variation) < BANKS_SEEN
    lower = view.columns[move.destination][-1:]
    return percent(card, lower, view.passes, variation) < CARRIES_SEEN


EVEN_WEIGHTS: Final = Weights(reserve=-5, hand=-1, face_down=-5, space=2, joined=1)
"""Weights that any player can name: bank, empty the reserve, play the waste, make spaces and long columns."""

LOOKS: Final = 10
"""Number of positions searched before a plan is chosen."""

OVERLOOKED: Final = 12
"""Percentage of positions in which the bot draws although it could do better."""


def choose_evenly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose a move like a player who knows the game well, but takes it easy."""
    turn = turn_of_stock(game, view, memory)
    if turn is not None and _chance(view, memory) < OVERLOOKED:
        return Choice(turn, replace(memory, plan=()))
    plan = _plan(game, view, memory) or look_ahead(game, view, evaluator(game, EVEN_WEIGHTS), LOOKS)
    return _follow(memory, plan) if plan else Choice(turn, memory)


MOST_IDLE_MOVES: Final = 300
"""Moves in a row without progress after which the bot cashes out."""


def choose_strongly(game: Game, view: View, memory: Memory) -> Choice:
    """Choose a move like a good player who remembers every card."""
    if memory.idle >= MOST_IDLE_MOVES:
        return Choice(None, memory)
    if plan := _plan(game, view, memory):
        return _follow(memory, plan)
    position = recall(view, memory)
    weights = weights_of(game, memory.variation)
    evaluate = evaluator(game, weights)
    if plan := look_ahead(game, position, evaluate, weights.looks):
        return _follow(memory, plan)
    if position.stock and position.stock[0] is HIDDEN:
        return _follow(memory, (DRAW,))
    return _follow(memory, look_ahead(game, position, evaluate, weights.last_looks))


def _plan(game: Game, view: View, memory: Memory) -> tuple[Move, ...]:
    """Return the remembered plan if it can be continued, else no moves."""
    can_go_on = memory.plan and refusal(game, view, memory.plan[0]) is None
    return memory.plan if can_go_on else ()


def _follow(memory: Memory, plan: tuple[Move, ...]) -> Choice:
    """Return the first move of a plan and remember the others; without a plan, stop."""
    if not plan:
        return Choice(None, memory)
    return Choice(plan[0], replace(memory, plan=plan[1:]))


CHOOSERS: Final[Mapping[str, Chooser]] = dict(
    zip(BOT_LEVELS, (choose_weakly, choose_evenly, choose_strongly), strict=True)
)
"""The function that chooses the moves of each strength."""
