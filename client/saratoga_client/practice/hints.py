"""A hint: the next move of a strong player, with the reason.

The strong bot chooses the move from the view and from the cards that an attentive player remembers,
so neither the hint nor its reason uses a hidden card.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from saratoga_client.bots.choose import choose_strongly
from saratoga_client.bots.memory import recall
from saratoga_client.input.move_text import (
    CardName,
    card_name,
    carried,
    describe,
    first_that_fits,
    foundations,
    pile_name,
    turned_up,
)
from saratoga_client.practice.game import PracticeGame, with_hint
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import HIDDEN, Card
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, RESERVE, UP, WASTE, Carry, Draw, Move
from saratoga_rules.play import is_won, play, refusal
from saratoga_rules.position import Position, View, redact
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up


def safe_move(game: Game, view: View, legal: Iterable[Move] | None = None) -> Carry | None:
    """Return the next card to bank safely; `None` if there is none.

    `legal` are the view's legal moves, if the caller has them already.
    """
    banking = banking_moves(legal_moves(game, view) if legal is None else legal)
    for move in banking:
        if _starts_a_foundation(view, move) or _has_no_use(game, view, move):
            return move
    return banking[0] if banking and _wins(game, view) else None


def banking_moves(legal: Iterable[Move]) -> list[Carry]:
    """Return the moves that bank a card."""
    return [move for move in legal if isinstance(move, Carry) and move.target in (UP, DOWN)]


def _starts_a_foundation(view: View, move: Carry) -> bool:
    card = carried(view, move)[-1]
    if move.target == UP:
        return view.up[wanted_up(view.up, view.base)[card]] == 0
    return view.down[wanted_down(view.down)[card]] == 0


def _has_no_use(game: Game, view: View, move: Carry) -> bool:
    """Return whether every card that could be laid on this one is banked."""
    onto = game.columns.build.onto[carried(view, move)[-1]]
    return all(_banked(view, card) == game.packs for card in onto)


def _banked(view: View, card: Card) -> int:
    """Return how many copies of a card lie on the foundations."""
    return sum(card in pile.cards for pile in foundations(view))


def _wins(game: Game, view: View) -> bool:
    """Return whether banking cards, without any other move, wins the game."""
    position = view
    while not is_won(game, position):
        banking = banking_moves(legal_moves(game, position))
        if not banking:
            return False
        position = View(play(game, position, banking[0]))
    return True


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
