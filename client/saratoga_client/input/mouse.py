"""What clicks and drops mean.

A click on a card plays its only move, if it has just one, and picks the card otherwise; the next
click places it. A double or right click banks. A drop says everything at once.
"""

from dataclasses import replace
from enum import StrEnum

from saratoga_client.input.move_text import STOCK, CardName, card_name, first_that_fits
from saratoga_client.input.pile_keys import has_pile
from saratoga_client.input.scene import Scene, look, nothing_from, why_not
from saratoga_client.input.selection import (
    EMPTY_HAND,
    Hand,
    Turn,
    answered,
    emptied,
    held_words,
    picked,
    placed,
    played,
    sent_home,
    steady,
)
from saratoga_client.wording import capitalised
from saratoga_rules.game import Game
from saratoga_rules.judge import Refusal
from saratoga_rules.moves import (
    COLUMN_INDEX,
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
)
from saratoga_rules.views import View


class Click(StrEnum):
    """The kinds of clicks."""

    SINGLE = "single"
    DOUBLE = "double"
    RIGHT = "right"


def click(
    game: Game,
    view: View,
    hand: Hand,
    pile: str,
    count: int,
    kind: Click,
    card_name: CardName = card_name,
) -> Turn:
    """What a click comes to, on a pile and so many cards from its top; 0 on an empty pile."""
    scene = look(game, view, card_name)
    just_played = hand.clicked
    hand = steady(scene, replace(hand, clicked=None))
    count = max(1, count)
    if kind is Click.DOUBLE and just_played == pile:
        told = "The first click has played it already."
        return answered(replace(hand, clicked=pile), told)
    if not has_pile(game, pile):
        return answered(hand, "There is nothing to click there.")
    if pile == STOCK:
        return _stock(scene, hand)
    match kind:
        case Click.RIGHT:
            return _bank(scene, hand, pile)
        case Click.DOUBLE:
            return _double(scene, hand, pile, count)
        case Click.SINGLE:
            return _single(scene, hand, pile, count)


def drop(
    game: Game,
    view: View,
    source: str,
    count: int,
    target: str,
    card_name: CardName = card_name,
    *,
    hand: Hand = EMPTY_HAND,
) -> Turn:
    """What it comes to when the top `count` cards of a pile are let go over another.

    Of `hand` only the player's habits stay: a drop ends whatever was picked.
    """
    scene = look(game, view, card_name)
    hand = emptied(hand)
    count = max(1, count)
    if source == STOCK:
        return answered(hand, "The stock is drawn by its key or a click, not carried.")
    if source == target:
        return answered(hand, f"Back in {scene.where(source)}.")
    if not _is_source(scene, source) or scene.top(source) is None:
        return answered(hand, nothing_from(scene, source))
    return _carried(scene, hand, source, count, target)


def _carried(scene: Scene, hand: Hand, source: str, count: int, target: str) -> Turn:
    goal = _goal(target)
    if not has_pile(scene.game, target):
        return answered(hand, "There is no pile there: the cards are back where they were.")
    if goal is None:
        return answered(hand, f"Nothing is carried onto {scene.where(target)}.")
    move = scene.carry(source, goal, count)
    if move is not None:
        return played(scene, hand, move)
    return answered(hand, why_not(scene, source, goal, count))


def _stock(scene: Scene, hand: Hand) -> Turn:
    moves = scene.from_pile(STOCK)
    if moves:
        return played(scene, hand, moves[0])
    return answered(hand, nothing_from(scene, STOCK))


def _single(scene: Scene, hand: Hand, pile: str, count: int) -> Turn:
    if hand.aim is not None and _is_source(scene, pile):
        move = scene.carry(pile, hand.aim, 1)
        if move is not None:
            return played(scene, hand, move, clicked=pile)
    if hand.picked is not None:
        return _second(scene, hand, hand.picked, pile, count)
    return _first(scene, hand, pile, count)


def _first(scene: Scene, hand: Hand, pile: str, count: int) -> Turn:
    """A click with nothing in hand."""
    if not _is_source(scene, pile):
        return answered(hand, _no_source(scene, pile))
    if pile in TAKE_BACK_INDEX:
        # it costs a card, so it is never played unasked
        return picked(scene, hand, pile)
    if scene.top(pile) is None:
        return answered(hand, nothing_from(scene, pile))
    if not _is_packet(scene, pile, count):
        return _other_packet(scene, hand, pile, count)
    moves = scene.carries(pile, count)
    if len(moves) == 1:
        return played(scene, hand, moves[0], clicked=pile)
    return picked(scene, hand, pile, count)


def _other_packet(scene: Scene, hand: Hand, pile: str, count: int) -> Turn:
    """A click on cards that are not lifted together: the pile's own packets are taken instead."""
    moves = scene.carries(pile)
    packets = f"Carried together: {scene.game.columns.packet}."
    if not moves:
        return answered(hand, nothing_from(scene, pile) if count == 1 else packets)
    if count == 1 and len(moves) == 1:
        return played(scene, hand, moves[0], clicked=pile)
    held = replace(emptied(hand), picked=pile)
    instead = held_words(scene, held)
    return answered(held, first_that_fits(f"{packets} {instead}", instead))


def _second(scene: Scene, hand: Hand, source: str, pile: str, count: int) -> Turn:
    """A click while something is picked: it places, puts down, or picks something else."""
    if pile == source:
        if hand.size in (None, count) or not scene.carries(pile, count):
            return answered(emptied(hand), f"Back in {scene.where(pile)}.")
        return picked(scene, hand, pile, count)
    goal = _goal(pile)
    if goal is not None and scene.carry(source, goal, hand.size) is not None:
        return placed(scene, hand, goal, clicked=pile)
    if pile not in TAKE_BACK_INDEX and scene.carries(pile, count):
        return picked(scene, hand, pile, count)
    if goal is None:
        return answered(hand, f"Nothing is carried onto {scene.where(pile)}.")
    return placed(scene, hand, goal)


def _double(scene: Scene, hand: Hand, pile: str, count: int) -> Turn:
    if not _is_source(scene, pile) or pile in TAKE_BACK_INDEX:
        return answered(hand, _no_source(scene, pile))
    size = count if count > 1 and _is_packet(scene, pile, count) else None
    if not scene.carries(pile, size):
        return answered(hand, nothing_from(scene, pile))
    return sent_home(scene, replace(emptied(hand), picked=pile, size=size))


def _bank(scene: Scene, hand: Hand, pile: str) -> Turn:
    if not _is_source(scene, pile) or pile in TAKE_BACK_INDEX:
        return answered(hand, _no_source(scene, pile))
    banks = [move for move in scene.carries(pile, 1) if move.target in (UP, DOWN)]
    if banks:
        return sent_home(scene, replace(emptied(hand), picked=pile, size=1))
    if scene.top(pile) is None:
        return answered(hand, nothing_from(scene, pile))
    return answered(hand, why_not(scene, pile, UP, 1))


def _goal(pile: str) -> str | None:
    """What a move calls a pile that cards are carried onto; `None` where they never are."""
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
    """Whether so many cards of a pile move at all, to columns or, one of them, to a foundation."""
    if pile not in COLUMN_INDEX:
        return True
    column = scene.view.columns[COLUMN_INDEX[pile]]
    return count in scene.game.columns.packets(column) or bool(scene.carries(pile, count))
