"""The results of clicks and drops.

A click on a card with one move plays that move. A click on a card with several moves, or on a card
of a foundation, picks the card, and the next click places the card. A double click or a right click
banks. A drop plays a move from one pile to another.
"""

from dataclasses import replace
from enum import StrEnum
from typing import Final

from saratoga_client.input.move_text import STOCK, first_that_fits
from saratoga_client.input.scene import Scene, banking, nothing_from, packet_text, why_not
from saratoga_client.input.selection import (
    InputResult,
    Selection,
    cleared,
    drawn,
    picked,
    placed,
    placed_at_once,
    played,
    revalidated,
)
from saratoga_rules.moves import COLUMN_INDEX, TAKE_BACK_INDEX, UP, Carry

FACE_DOWN: Final = "That card is face down: it turns up when no card lies on it any more."


class Click(StrEnum):
    """The kinds of clicks."""

    SINGLE = "single"
    DOUBLE = "double"
    RIGHT = "right"


def click(scene: Scene, selection: Selection, pile: str, count: int, kind: Click) -> InputResult:
    """Return the result of a click on a pile of the game.

    `count` is the number of cards from the clicked one to the top of the pile; 0 on an empty pile.
    It is greater than the number of face-up cards if the clicked card is face down.
    """
    just_played = selection.clicked
    selection = revalidated(scene, replace(selection, clicked=None))
    count = max(1, count)
    if kind is Click.DOUBLE and just_played == pile:
        says = "The first click has played this move already."
        return InputResult(replace(selection, clicked=pile), says)
    result = _clicked(scene, selection, pile, count, kind)
    if kind is Click.SINGLE and isinstance(result.move, Carry):
        return replace(result, selection=replace(result.selection, clicked=pile))
    return result


def _clicked(scene: Scene, selection: Selection, pile: str, count: int, kind: Click) -> InputResult:
    is_single, held = kind is Click.SINGLE, selection.picked
    if pile == STOCK:
        return drawn(scene, selection)
    if is_single and held is not None:
        return _second(scene, selection, held, pile, count)
    if pile in COLUMN_INDEX and 0 < len(scene.cards(pile)) < count:
        return InputResult(selection, FACE_DOWN)
    if is_single and selection.aim is not None and scene.carries(pile, selection.aim):
        return placed(scene, selection, pile, selection.aim)
    return _first(scene, selection, pile, count, kind)


def drop(scene: Scene, selection: Selection, source: str, count: int, target: str) -> InputResult:
    """Return the result of dropping the top `count` cards of a pile on another pile.

    A drop clears the selection, except for its quick mode.
    """
    selection = cleared(selection)
    if not scene.cards(source):
        return InputResult(selection, nothing_from(scene, source))
    result = placed(scene, replace(selection, size=count), source, target)
    return replace(result, selection=selection)


def _first(scene: Scene, selection: Selection, pile: str, count: int, kind: Click) -> InputResult:
    """Return the result of a click that does not place selected cards."""
    if not scene.cards(pile):
        return InputResult(selection, nothing_from(scene, pile))
    if pile in TAKE_BACK_INDEX:
        # Taking back costs a banked card, so a single click only picks the card.
        if kind is Click.SINGLE:
            return picked(scene, selection, pile)
        return InputResult(selection, "That card lies on its foundation already.")
    if kind is Click.RIGHT:
        if not banking(scene.carries(pile, size=1)):
            return InputResult(selection, why_not(scene, pile, UP, 1))
        return placed_at_once(scene, selection, pile, 1)
    size = count if scene.carries(pile, size=count) else None
    if kind is Click.DOUBLE:
        return placed_at_once(scene, selection, pile, size if count > 1 else None)
    moves = scene.carries(pile, size=size)
    is_meant = size is not None or count == 1
    if len(moves) == 1 and is_meant:
        return played(scene, selection, moves[0])
    result = picked(scene, selection, pile, size)
    if is_meant or not moves:
        return result
    says = first_that_fits(f"{packet_text(scene.game)} {result.says}", result.says)
    return replace(result, says=says)


def _second(scene: Scene, selection: Selection, source: str, pile: str, count: int) -> InputResult:
    """Return the result of a click with selected cards: place them, deselect them, or pick others."""
    if pile == source:
        if selection.size in (None, count) or not scene.carries(pile, size=count):
            return InputResult(cleared(selection), f"Back in {scene.where(pile)}.")
        return picked(scene, selection, pile, count)
    result = placed(scene, selection, source, pile)
    if result.move is None and pile not in TAKE_BACK_INDEX and scene.carries(pile, size=count):
        return picked(scene, selection, pile, count)
    return result
