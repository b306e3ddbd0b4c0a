"""The player's selection of cards or a move, its highlights, and the result of an input."""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from saratoga_client.input.move_text import (
    STOCK,
    cards_words,
    carried,
    describe,
    either,
    first_that_fits,
    key_of,
    source_of,
    target_of,
)
from saratoga_client.input.scene import Scene, nothing_from, why_not
from saratoga_client.wording import capitalised
from saratoga_rules.moves import COLUMN_NAMES, RESERVE, TAKE_BACK_INDEX, WASTE, Carry, Move
from saratoga_rules.piles import Pile


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
    says: str
    """A sentence for the player on the selection, the move, or why no move is played."""
    move: Move | None = None
    """A legal move to play now, or `None`."""


class Marks(NamedTuple):
    """The highlights of a board. Foundations have their suit: `up.D`."""

    picked: tuple[str, int] | None = None
    """The pile with selected cards, and their number; `None` without selected cards."""
    targets: frozenset[str] = frozenset()
    """Piles that accept the selected cards."""
    sources: frozenset[str] = frozenset()
    """Piles from which cards can be moved."""
    find: str = ""
    """The cards to highlight: a rank, a suit or both, as `cards_matching` reads them."""
    has_keys: bool = True
    """True to show the key of every pile."""


def cleared(selection: Selection) -> Selection:
    """Return an empty selection with the same quick mode."""
    return Selection(quick=selection.quick)


def revalidated(scene: Scene, selection: Selection) -> Selection:
    """Return the selection without cards and moves that the changed board does not allow."""
    if selection.picked is not None and not scene.carries(selection.picked, size=selection.size):
        selection = cleared(selection)
    if selection.lit is not None and selection.lit not in scene.legal:
        selection = replace(selection, lit=None)
    if selection.aim is not None and not scene.carries(target=selection.aim):
        selection = replace(selection, aim=None)
    return selection


def marks(scene: Scene, selection: Selection) -> Marks:
    """Return the highlights of a selection."""
    selection = revalidated(scene, selection)
    match selection.lit:
        case None if selection.picked is not None:
            carries = scene.carries(selection.picked, size=selection.size)
        case None if selection.aim is not None:
            banks = scene.carries(target=selection.aim)
            targets = frozenset(target_of(scene.view, move) for move in banks)
            return Marks(None, targets, frozenset(move.source for move in banks))
        case None:
            return Marks(sources=frozenset(map(source_of, scene.legal)))
        case Carry() as lit:
            carries = (lit,)
        case _ if scene.game.stock.onto is Pile.WASTE:
            return Marks((STOCK, 1), frozenset((WASTE,)))
        case _:
            dealt = min(len(scene.view.stock), scene.game.columns.count)
            return Marks((STOCK, 1), frozenset(COLUMN_NAMES[:dealt]))
    targets = frozenset(target_of(scene.view, move) for move in carries)
    return Marks((carries[0].source, max(move.count for move in carries)), targets)


# Results


def played(scene: Scene, selection: Selection, move: Move) -> InputResult:
    """Return a result that plays a move and clears the selection."""
    says = capitalised(describe(scene.game, scene.view, move, scene.card_name)) + "."
    return InputResult(cleared(selection), first_that_fits(says), move)


def drawn(scene: Scene, selection: Selection) -> InputResult:
    """Return a result that draws from the stock or turns the waste over, or why neither is legal."""
    if scene.draw is None:
        return InputResult(selection, nothing_from(scene, STOCK))
    return played(scene, selection, scene.draw)


def picked(scene: Scene, selection: Selection, pile: str, size: int | None = None) -> InputResult:
    """Return the result of picking cards of a pile: a selection, or why none can be picked."""
    if not scene.carries(pile, size=size):
        return InputResult(selection, nothing_from(scene, pile))
    held = replace(cleared(selection), picked=pile, size=size)
    return InputResult(held, selection_text(scene, held))


def placed(scene: Scene, selection: Selection, source: str, target: str) -> InputResult:
    """Return the result of carrying cards of `source`, of the selected size, to another pile.

    After a refusal the selection stays.
    """
    size = 1 if selection.aim else selection.size
    target = target.partition(".")[0]
    if target in (STOCK, WASTE, RESERVE):
        return InputResult(selection, f"Cards cannot be moved onto {scene.where(target)}.")
    moves = scene.largest(source, target, size)
    if moves:
        return played(scene, selection, moves[0])
    return InputResult(selection, why_not(scene, source, target, size))


def placed_at_once(scene: Scene, selection: Selection, pile: str, size: int | None) -> InputResult:
    """Bank the top card, or play the pile's only move; of several moves, ask for the target."""
    move = scene.obvious(pile, size)
    return played(scene, selection, move) if move else picked(scene, selection, pile, size)


def selection_text(scene: Scene, selection: Selection) -> str:
    """Return a sentence with the selected cards and the keys that place them."""
    pile = selection.picked or ""
    moves = scene.largest(pile, size=selection.size)
    keys = either([key_of(move.target) for move in moves])
    where = "its foundation" if pile in TAKE_BACK_INDEX else scene.where(pile)
    choose = " + - choose how many." if len(scene.sizes(pile)) > 1 else ""
    if len({move.count for move in moves}) > 1:
        what = capitalised(where)
        sizes = ", ".join(f"{key_of(move.target)} takes {move.count}" for move in moves)
        says = f"{what}: {sizes}; esc drops.{choose}"
    else:
        what = cards_words(carried(scene.view, moves[0]), scene.card_name)
        says = f"{what} from {where}: press {keys}; esc drops.{choose}"
    return first_that_fits(says, f"{what}: press {keys}.{choose}")
