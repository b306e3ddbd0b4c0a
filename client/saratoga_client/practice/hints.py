"""A hint: the next move of a strong player, with the reason.

The strong bot chooses the move from the view and from the cards that an attentive player remembers,
so neither the hint nor its reason uses a hidden card.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from saratoga_client.bots.memory import recall
from saratoga_client.bots.strong import choose_strongly
from saratoga_client.input.move_text import (
    CardName,
    card_name,
    carried,
    describe,
    first_that_fits,
    pile_name,
    turned_up,
)
from saratoga_client.practice.game import PracticeGame, with_hint
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, RESERVE, UP, WASTE, Carry, Draw, Move
from saratoga_rules.play import play, refusal
from saratoga_rules.position import Position, redact


@dataclass(frozen=True, slots=True)
class Hint:
    """Advice for one position."""

    move: Move | None
    """A legal move; `None` if the game is won or no known line banks more cards."""
    says: str
    """The move and the reason, as a sentence."""


class Advice(NamedTuple):
    """A hint, and the game in which it is counted."""

    practice: PracticeGame
    hint: Hint


def hint(practice: PracticeGame, at: int, card_name: CardName = card_name) -> Advice:
    """Return a hint. Repeated calls give the same hint; after its move, the plan continues."""
    game, view = practice.game, practice.view
    if practice.is_won:
        return Advice(practice, Hint(None, "The game is won: there is nothing left to do."))
    if not legal_moves(game, view):
        return Advice(practice, Hint(None, "There is no legal move. Undo, or deal again."))
    # Moves without progress make a bot stop, but must not stop hints.
    memory = replace(practice.memory, idle=0)
    choice = choose_strongly(game, view, memory)
    if choice.move is None:
        says = "Nothing in sight leads to more cards. Undo and try another way, or deal again."
        return Advice(with_hint(practice, memory, at), Hint(None, says))
    plan = (choice.move, *choice.memory.plan)
    advice = Hint(choice.move, _reasoned(game, recall(view, memory), plan, card_name))
    return Advice(with_hint(practice, replace(choice.memory, plan=plan), at), advice)


class _Seen(NamedTuple):
    """A move of a plan, with the known cards of the positions before and after it."""

    before: Position
    move: Move
    after: Position


def _played(game: Game, position: Position, plan: tuple[Move, ...]) -> Iterator[_Seen]:
    for move in plan:
        if refusal(game, position, move) is not None:
            return
        after = play(game, position, move)
        yield _Seen(position, move, after)
        position = after


def _reasoned(game: Game, position: Position, plan: tuple[Move, ...], card_name: CardName) -> str:
    steps = list(_played(game, position, plan))
    first, later = steps[0], steps[1:]
    what = f"Hint: {describe(game, redact(first.before), first.move, card_name)}"
    reasons = [*_gains(first, card_name), *_end(game, later, card_name)]
    if not reasons:
        reasons = ["one card more"] if _banks(first.move) else ["that leaves a better position"]
    return first_that_fits(f"{what}: {reasons[0]}.", f"{what}.")


def _banks(move: Move) -> bool:
    return isinstance(move, Carry) and move.target in (UP, DOWN)


def _gains(step: _Seen, card_name: CardName) -> Iterator[str]:
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
        yield "that makes a space"
    elif move.origin >= 0 and len(after.stock) == len(before.stock):
        yield f"that frees {card_name(after.columns[move.origin][-1])}"
    if move.source == WASTE and after.waste:
        yield f"that frees {card_name(after.waste[-1])}"


def _end(game: Game, later: list[_Seen], card_name: CardName) -> Iterator[str]:
    """Return the first card that a later move of the plan banks or takes off reserve or waste."""
    for away, step in enumerate(later, start=1):
        move = step.move
        if isinstance(move, Carry) and (_banks(move) or move.source in (RESERVE, WASTE)):
            card = card_name(carried(redact(step.before), move)[-1])
            where = "be banked" if _banks(move) else f"go to {pile_name(game, move.target)}"
            yield f"then {card} can {where}" if away == 1 else f"{card} can {where} soon"
            return
