"""The player's selection of cards or a move, and the result of an input."""

from dataclasses import dataclass, replace
from typing import Final

from saratoga_client.input.move_text import STOCK, carried, describe, first_that_fits
from saratoga_client.input.scene import Scene, nothing_from, why_not
from saratoga_client.wording import capitalised, counted
from saratoga_rules.moves import DOWN, TAKE_BACK_INDEX, UP, Carry, Move


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The cards or the move that keys and clicks have selected for the next input."""

    picked: str | None = None
    """The pile with the selected cards, named as in moves; `None` without selected cards."""
    size: int | None = None
    """The number of cards that the player chose; if `None`, the target decides."""
    lit: Move | None = None
    """The move that Tab has selected; `None` without one."""
    aim: str | None = None
    """`up` or `down` if the player named the foundation before the card, else `None`."""
    clicked: str | None = None
    """The pile whose click played the last move.

    The second click of a double click there must not play another move.
    """
    quick: bool = False
    """True in quick mode: the key of a pile with exactly one legal move plays that move."""


NO_SELECTION: Final = Selection()


@dataclass(frozen=True, slots=True)
class InputResult:
    """The result of a key, a click or a drop."""

    selection: Selection
    move: Move | None
    """A legal move to play now, or `None`."""
    says: str
    """A sentence for the player on the selection, the move, or why no move is played."""


def cleared(selection: Selection) -> Selection:
    """Return an empty selection with the same quick mode."""
    return Selection(quick=selection.quick)


def revalidated(scene: Scene, selection: Selection) -> Selection:
    """Return the selection without cards and moves that the changed board does not allow."""
    if selection.picked is not None and not scene.carries(selection.picked, selection.size):
        selection = cleared(selection)
    if selection.lit is not None and selection.lit not in scene.legal:
        selection = replace(selection, lit=None)
    if selection.aim is not None and not scene.to_foundation(selection.aim):
        selection = replace(selection, aim=None)
    return selection


def played(
    scene: Scene, selection: Selection, move: Move, *, clicked: str | None = None
) -> InputResult:
    """Return a result that plays a move and clears the selection."""
    says = capitalised(describe(scene.game, scene.view, move, scene.card_name)) + "."
    return InputResult(replace(cleared(selection), clicked=clicked), move, first_that_fits(says))


def answered(selection: Selection, says: str) -> InputResult:
    """Return a result that plays no move and says a sentence to the player."""
    return InputResult(selection, None, says)


def drawn(scene: Scene, selection: Selection) -> InputResult:
    """Return a result that draws from the stock or turns the waste over, or why neither is legal."""
    moves = scene.from_pile(STOCK)
    if not moves:
        return answered(selection, nothing_from(scene, STOCK))
    return played(scene, selection, moves[0])


def picked(scene: Scene, selection: Selection, pile: str, size: int | None = None) -> InputResult:
    """Return the result of picking cards of a pile: a selection, or why none can be picked."""
    if not scene.carries(pile, size):
        return answered(selection, nothing_from(scene, pile))
    held = replace(cleared(selection), picked=pile, size=size)
    return answered(held, selection_text(scene, held))


def placed(
    scene: Scene, selection: Selection, target: str, *, clicked: str | None = None
) -> InputResult:
    """Return the result of placing the selected cards on a pile.

    After a refusal the cards stay selected.
    """
    assert selection.picked is not None
    move = scene.carry(selection.picked, target, selection.size)
    if move is not None:
        return played(scene, selection, move, clicked=clicked)
    return answered(selection, why_not(scene, selection.picked, target, selection.size))


def banked_or_placed(
    scene: Scene, selection: Selection, *, clicked: str | None = None
) -> InputResult:
    """Bank the selected card, play its only move, or ask for the target of several moves."""
    assert selection.picked is not None
    carries = scene.carries(selection.picked, selection.size)
    banks = [move for move in carries if move.target in (UP, DOWN)]
    if len(banks) == 1:
        return played(scene, selection, banks[0], clicked=clicked)
    if banks:
        card = scene.card_name(carried(scene.view, banks[0])[-1])
        keys = f"{scene.keys.of(UP)} banks it up, {scene.keys.of(DOWN)} down"
        return answered(selection, f"{card} fits both foundations: {keys}.")
    targets = {move.target for move in carries}
    if len(targets) == 1:
        return placed(scene, selection, targets.pop(), clicked=clicked)
    return answered(selection, selection_text(scene, selection))


def selection_text(scene: Scene, selection: Selection) -> str:
    """Return a sentence with the selected cards and the keys that place them."""
    pile = selection.picked
    assert pile is not None
    best: dict[str, Carry] = {}
    for move in scene.carries(pile, selection.size):
        if move.target not in best or best[move.target].count < move.count:
            best[move.target] = move
    keys = {target: scene.keys.of(target) for target in best}
    counts = {move.count for move in best.values()}
    plain = either(list(keys.values()))
    where = "its foundation" if pile in TAKE_BACK_INDEX else scene.where(pile)
    choose = " + - choose how many." if len(scene.sizes(pile)) > 1 else ""
    if len(counts) > 1:
        sizes = ", ".join(f"{keys[target]} takes {move.count}" for target, move in best.items())
        return first_that_fits(
            f"{capitalised(where)}: {sizes}; esc drops.{choose}",
            f"{capitalised(where)}: {sizes}.{choose}",
            f"{capitalised(where)}: press {plain}.{choose}",
        )
    cards = carried(scene.view, next(iter(best.values())))
    what = scene.card_name(cards[0])
    if len(cards) > 1:
        what = f"{counted(len(cards))}, {what} to {scene.card_name(cards[-1])}"
    return first_that_fits(
        f"{what} from {where}: press {plain}; esc drops.{choose}",
        f"{what} from {where}: press {plain}.{choose}",
        f"{what}: press {plain}.{choose}",
    )


def either(words: list[str]) -> str:
    """Join words as alternatives: `2`, `2 or 5`, `2, 5 or f`."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} or {words[-1]}"
