"""The results of clicks and drops.

A click on a card with one move plays that move. A click on a card with several moves, or on a card of
a foundation, picks the card, and the next click places the card. A double click or a right click
banks. A drop plays a move from one pile to another.
"""

from dataclasses import replace
from enum import StrEnum
from typing import Final

from saratoga_client.input.move_text import STOCK, first_that_fits
from saratoga_client.input.pile_keys import has_pile
from saratoga_client.input.scene import Scene, nothing_from, packet_text, why_not
from saratoga_client.input.selection import (
    InputResult,
    Selection,
    answered,
    banked_or_placed,
    cleared,
    drawn,
    picked,
    placed,
    played,
    revalidated,
    selection_text,
)
from saratoga_client.wording import capitalised
from saratoga_rules.moves import (
    COLUMN_INDEX,
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
)
from saratoga_rules.play import Refusal

FACE_DOWN: Final = "That card is face down: it turns up when no card lies on it any more."


class Click(StrEnum):
    """The kinds of clicks."""

    SINGLE = "single"
    DOUBLE = "double"
    RIGHT = "right"


def click(scene: Scene, selection: Selection, pile: str, count: int, kind: Click) -> InputResult:
    """Return the result of a click on a pile.

    `count` is the number of cards from the clicked one to the top of the pile; 0 on an empty pile. It is
    greater than the number of face-up cards if the clicked card is face down.
    """
    just_played = selection.clicked
    selection = revalidated(scene, replace(selection, clicked=None))
    count = max(1, count)
    if kind is Click.DOUBLE and just_played == pile:
        says = "The first click has played this move already."
        return answered(replace(selection, clicked=pile), says)
    if not has_pile(scene.game, pile):
        return answered(selection, "There is nothing to click there.")
    places_cards = kind is Click.SINGLE and selection.picked is not None
    if pile in COLUMN_INDEX and 0 < scene.height(pile) < count and not places_cards:
        return answered(selection, FACE_DOWN)
    if pile == STOCK:
        return drawn(scene, selection)
    if kind is Click.SINGLE:
        return _single(scene, selection, pile, count)
    return _banked(scene, selection, pile, count, kind)


def drop(scene: Scene, selection: Selection, source: str, count: int, target: str) -> InputResult:
    """Return the result of dropping the top `count` cards of a pile on another pile.

    A drop clears the selection, except for its quick mode.
    """
    selection = cleared(selection)
    count = max(1, count)
    if source == STOCK:
        return answered(selection, "The stock is drawn by its key or a click, not carried.")
    if source == target:
        return answered(selection, f"Back in {scene.where(source)}.")
    if not _is_source(scene, source) or scene.top(source) is None:
        return answered(selection, nothing_from(scene, source))
    goal = _goal(target)
    if not has_pile(scene.game, target):
        return answered(selection, "There is no pile there: the cards are back where they were.")
    if goal is None:
        return answered(selection, f"Cards cannot be moved onto {scene.where(target)}.")
    move = scene.carry(source, goal, count)
    if move is not None:
        return played(scene, selection, move)
    return answered(selection, why_not(scene, source, goal, count))


def _single(scene: Scene, selection: Selection, pile: str, count: int) -> InputResult:
    if selection.aim is not None and _is_source(scene, pile):
        move = scene.carry(pile, selection.aim, 1)
        if move is not None:
            return played(scene, selection, move, clicked=pile)
    if selection.picked is not None:
        return _second(scene, selection, selection.picked, pile, count)
    return _first(scene, selection, pile, count)


def _first(scene: Scene, selection: Selection, pile: str, count: int) -> InputResult:
    """Return the result of a click without a selection."""
    if not _is_source(scene, pile):
        return answered(selection, _no_source(scene, pile))
    if pile in TAKE_BACK_INDEX:
        # Taking back costs a banked card, so a single click only picks the card.
        return picked(scene, selection, pile)
    if scene.top(pile) is None:
        return answered(selection, nothing_from(scene, pile))
    if not _is_packet(scene, pile, count):
        return _other_packet(scene, selection, pile, count)
    moves = scene.carries(pile, count)
    if len(moves) == 1:
        return played(scene, selection, moves[0], clicked=pile)
    return picked(scene, selection, pile, count)


def _other_packet(scene: Scene, selection: Selection, pile: str, count: int) -> InputResult:
    """Return the result of a click on cards that cannot be carried: pick cards that can."""
    moves = scene.carries(pile)
    packets = packet_text(scene.game)
    if not moves:
        return answered(selection, nothing_from(scene, pile) if count == 1 else packets)
    if count == 1 and len(moves) == 1:
        return played(scene, selection, moves[0], clicked=pile)
    held = replace(cleared(selection), picked=pile)
    instead = selection_text(scene, held)
    return answered(held, first_that_fits(f"{packets} {instead}", instead))


def _second(scene: Scene, selection: Selection, source: str, pile: str, count: int) -> InputResult:
    """Return the result of a click with selected cards: place them, deselect them, or pick others."""
    if pile == source:
        if selection.size in (None, count) or not scene.carries(pile, count):
            return answered(cleared(selection), f"Back in {scene.where(pile)}.")
        return picked(scene, selection, pile, count)
    goal = _goal(pile)
    if goal is not None and scene.carry(source, goal, selection.size) is not None:
        return placed(scene, selection, goal, clicked=pile)
    if pile not in TAKE_BACK_INDEX and scene.carries(pile, count):
        return picked(scene, selection, pile, count)
    if goal is None:
        return answered(selection, f"Cards cannot be moved onto {scene.where(pile)}.")
    return placed(scene, selection, goal)


def _banked(scene: Scene, selection: Selection, pile: str, count: int, kind: Click) -> InputResult:
    """Return the result of a double or a right click; only a double click can do else than bank."""
    if not _is_source(scene, pile) or pile in TAKE_BACK_INDEX:
        return answered(selection, _no_source(scene, pile))
    if kind is Click.RIGHT:
        if not any(move.target in (UP, DOWN) for move in scene.carries(pile, 1)):
            empty = scene.top(pile) is None
            why = nothing_from(scene, pile) if empty else why_not(scene, pile, UP, 1)
            return answered(selection, why)
        size: int | None = 1
    else:
        size = count if count > 1 and _is_packet(scene, pile, count) else None
        if not scene.carries(pile, size):
            return answered(selection, nothing_from(scene, pile))
    return banked_or_placed(scene, replace(cleared(selection), picked=pile, size=size))


def _goal(pile: str) -> str | None:
    """Return the target's name in moves; `None` for piles that accept no cards."""
    if pile in COLUMN_INDEX:
        return pile
    family = pile.partition(".")[0]
    return family if family in (UP, DOWN) else None


def _is_source(scene: Scene, pile: str) -> bool:
    if pile in TAKE_BACK_INDEX:
        return scene.game.up.gives_back
    return pile in (WASTE, RESERVE) or pile in COLUMN_INDEX


def _no_source(scene: Scene, pile: str) -> str:
    if scene.game.up.gives_back and pile in TAKE_BACK_INDEX:
        return "That card lies on its foundation already."
    if pile in TAKE_BACK_INDEX or _goal(pile) is not None:
        return str(Refusal.NOT_FROM_FOUNDATIONS)
    return f"{capitalised(scene.where(pile))} gives no cards."


def _is_packet(scene: Scene, pile: str, count: int) -> bool:
    """Return whether the game lets the top `count` cards of a pile be carried together."""
    if pile not in COLUMN_INDEX:
        return True
    column, rules = scene.view.columns[COLUMN_INDEX[pile]], scene.game.columns
    is_packet = count in rules.packet.sizes(column, rules.build)
    return is_packet or bool(scene.carries(pile, count))
