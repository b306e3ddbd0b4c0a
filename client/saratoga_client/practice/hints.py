"""A hint: the next move of a strong player, with the reason; and the cards that are safe to bank.

The strong bot chooses the move from the view and from the cards that an attentive player remembers,
so neither the hint nor its reason uses a hidden card.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from saratoga_client.bots.choose import Memory, choose_strongly, is_banking, recall
from saratoga_client.input.move_text import (
    CardName,
    carried,
    describe,
    first_that_fits,
    foundations,
    pile_name,
    turned_up,
)
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.moves import RESERVE, UP, WASTE, Carry, Draw, Move
from saratoga_rules.play import is_won, play, refusal
from saratoga_rules.position import Position, View, redact
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up


def safe_move(game: Game, view: View, legal: Iterable[Move] | None = None) -> Carry | None:
    """Return the next card to bank safely; `None` if there is none.

    `legal` are the view's legal moves, if the caller has them already.
    """
    banking = list(filter(is_banking, legal_moves(game, view) if legal is None else legal))
    for move in banking:
        if _starts_a_foundation(view, move) or _has_no_use(game, view, move):
            return move
    return banking[0] if banking and _wins(game, view) else None


def _starts_a_foundation(view: View, move: Carry) -> bool:
    card = carried(view, move)[-1]
    if move.target == UP:
        return view.up[wanted_up(view.up, view.base)[card]] == 0
    return view.down[wanted_down(view.down)[card]] == 0


def _has_no_use(game: Game, view: View, move: Carry) -> bool:
    """Return whether every card that could be laid on this one is banked."""
    banked = [card for pile in foundations(view) for card in pile.cards]
    onto = game.columns.build.onto[carried(view, move)[-1]]
    return all(banked.count(card) == game.packs for card in onto)


def _wins(game: Game, view: View) -> bool:
    """Return whether banking cards, without any other move, wins the game."""
    position = view
    while not is_won(game, position):
        banking = next(filter(is_banking, legal_moves(game, position)), None)
        if banking is None:
            return False
        position = View(play(game, position, banking))
    return True


class Hint(NamedTuple):
    """Advice for one position."""

    move: Move | None
    """A legal move; `None` if the game is won or no known line banks more cards."""
    says: str
    """The move and the reason, as a sentence."""


def hint(game: Game, view: View, memory: Memory, card_name: CardName) -> tuple[Hint, Memory]:
    """Return a hint for a view with a legal move, and the memory with the hint's plan.

    With that memory, the hint stays the same until a move is made; after its move, the plan goes
    on.
    """
    # Moves without progress make a bot stop, but must not stop hints.
    memory = replace(memory, idle=0)
    move, after = choose_strongly(game, view, memory)
    if move is None:
        says = "Nothing in sight leads to more cards. Undo and try another way, or deal again."
        return Hint(None, says), memory
    plan = (move, *after.plan)
    says = _reasoned(game, recall(view, memory), plan, card_name)
    return Hint(move, says), replace(after, plan=plan)


class _Step(NamedTuple):
    """A move of a plan, with the known cards of the positions before and after it."""

    before: Position
    move: Move
    after: Position


def _reasoned(game: Game, position: Position, plan: tuple[Move, ...], card_name: CardName) -> str:
    steps: list[_Step] = []
    for move in plan:
        if refusal(game, position, move) is not None:
            break
        steps.append(_Step(position, move, play(game, position, move)))
        position = steps[-1].after
    first, *later = steps
    what = f"Hint: {describe(game, redact(first.before), first.move, card_name)}"
    otherwise = "one card more" if is_banking(first.move) else "that leaves a better position"
    reasons = [*_gains(first, card_name), *_end(game, later, card_name), otherwise]
    return first_that_fits(f"{what}: {reasons[0]}.", f"{what}.")


def _gains(step: _Step, card_name: CardName) -> Iterator[str]:
    """Yield the effects of the move, the most important first."""
    before, move, after = step
    if not isinstance(move, Carry):
        if isinstance(move, Draw) and before.stock[0] is HIDDEN:
            yield "nothing better is in sight"
        return
    if len(after.reserve) < len(before.reserve):
        left = len(after.reserve)
        yield f"the reserve has {left} left" if left else "that empties the reserve"
    if len(after.stock) < len(before.stock):
        yield "a stock card fills the space"
    if turned_up(redact(before), redact(after)) is not None:
        yield "that turns a card up"
    elif move.origin >= 0 and not after.columns[move.origin]:
        yield "that empties a column"
    elif move.origin >= 0:
        yield f"that frees {card_name(after.columns[move.origin][-1])}"
    if move.source == WASTE and after.waste:
        yield f"that frees {card_name(after.waste[-1])}"


def _end(game: Game, later: list[_Step], card_name: CardName) -> Iterator[str]:
    """Yield what the first later move of the plan does that banks a card or takes it off reserve or waste."""
    for away, (before, move, _) in enumerate(later, start=1):
        if isinstance(move, Carry) and (is_banking(move) or move.source in (RESERVE, WASTE)):
            card = card_name(carried(redact(before), move)[-1])
            where = "be banked" if is_banking(move) else f"go to {pile_name(game, move.target)}"
            yield f"then {card} can {where}" if away == 1 else f"{card} can {where} soon"
            return
