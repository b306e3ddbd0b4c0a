"""What keys mean, in every situation: each comes to a move or to an answer in words.

The player picks a pile with its key and places the cards with another; or names a foundation
first; or walks through the legal moves with Tab. Legality is the judge's alone, and a `Turn` never
holds a move that the judge refuses. Clicks and drops are in `pointing`, and can be had from here.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from saratoga_client.input.key_hints import guide_of
from saratoga_client.input.mouse import Click, click, drop
from saratoga_client.input.move_text import (
    LINE,
    STOCK,
    CardName,
    card_name,
    carried,
    describe,
    first_that_fits,
    source_of,
    target_of,
)
from saratoga_client.input.pile_keys import (
    QUICK_KEY,
    TAKE_BACK_KEY,
    key_called,
)
from saratoga_client.input.scene import Scene, look, nothing_from, why_not
from saratoga_client.input.selection import (
    EMPTY_HAND,
    Hand,
    Turn,
    answered,
    either,
    emptied,
    held_words,
    picked,
    placed,
    played,
    sent_home,
    steady,
)
from saratoga_client.sanitised import sanitised
from saratoga_client.wording import capitalised
from saratoga_rules.game import Game
from saratoga_rules.judge import refusal
from saratoga_rules.moves import COLUMN_NAMES, DOWN, TAKE_BACK_INDEX, UP, WASTE, Carry, Move, carry
from saratoga_rules.piles import Pile
from saratoga_rules.views import View

__all__ = ["EMPTY_HAND", "Click", "Hand", "Turn", "click", "drop", "marks", "press"]


def press(game: Game, view: View, hand: Hand, key: str, card_name: CardName = card_name) -> Turn:
    """What a key comes to. Keys are called as Textual calls them, or as they are written."""
    scene = look(game, view, card_name)
    hand = steady(scene, replace(hand, clicked=None))
    called = key_called(key)
    pile = scene.keys.by_key.get(called)
    if pile in (UP, DOWN):
        return _foundation(scene, hand, pile)
    if pile == STOCK:
        return _stock(scene, hand)
    if pile is not None:
        return _pile(scene, hand, pile)
    if called in _OTHER_KEYS:
        return _OTHER_KEYS[called](scene, hand)
    if called in _NO_SUCH_PILE:
        return answered(hand, nothing_from(scene, _NO_SUCH_PILE[called]))
    return answered(hand, _unknown(scene, hand, key))


class HandMarks(NamedTuple):
    """What the hand lights on the board."""

    picked: tuple[str, int] | None
    """The pile that cards are picked from, and how many."""
    targets: frozenset[str]
    """The piles that take them; foundations with their suit: `up.D`."""
    sources: frozenset[str]
    """The piles that a card may be picked from now."""


def marks(game: Game, view: View, hand: Hand) -> HandMarks:
    """What lights on the board while this is in hand."""
    scene = look(game, view, card_name)
    hand = steady(scene, hand)
    if hand.lit is not None:
        return _lit_marks(scene, hand.lit)
    if hand.picked is not None:
        carries = scene.carries(hand.picked, hand.size)
        count = max(move.count for move in carries)
        targets = frozenset(target_of(view, move) for move in carries)
        return HandMarks((hand.picked, count), targets, frozenset())
    if hand.aim is not None:
        banks = scene.to_foundation(hand.aim)
        return HandMarks(
            None,
            frozenset(target_of(view, move) for move in banks),
            frozenset(move.source for move in banks),
        )
    return HandMarks(None, frozenset(), frozenset(map(source_of, scene.legal)))


def _lit_marks(scene: Scene, move: Move) -> HandMarks:
    if isinstance(move, Carry):
        targets = frozenset((target_of(scene.view, move),))
        return HandMarks((move.source, move.count), targets, frozenset())
    if scene.game.stock.onto is Pile.WASTE:
        return HandMarks((STOCK, 1), frozenset((WASTE,)), frozenset())
    row = COLUMN_NAMES[: min(len(scene.view.stock), scene.game.columns.count)]
    return HandMarks((STOCK, 1), frozenset(row), frozenset())


def _pile(scene: Scene, hand: Hand, pile: str) -> Turn:
    if hand.aim is not None:
        move = scene.carry(pile, hand.aim, 1)
        if move is not None:
            return played(scene, hand, move)
        return answered(hand, why_not(scene, pile, hand.aim, 1))
    if hand.picked == pile:
        return sent_home(scene, hand)
    if hand.picked is not None and pile in COLUMN_NAMES:
        return placed(scene, hand, pile)
    moves = scene.from_pile(pile)
    if hand.quick and hand.picked is None and len(moves) == 1:
        return played(scene, hand, moves[0])
    return picked(scene, hand, pile)


def _stock(scene: Scene, hand: Hand) -> Turn:
    moves = scene.from_pile(STOCK)
    return played(scene, hand, moves[0]) if moves else answered(hand, nothing_from(scene, STOCK))


def _foundation(scene: Scene, hand: Hand, target: str) -> Turn:
    if hand.picked is not None:
        return placed(scene, hand, target)
    banks = scene.to_foundation(target)
    if len(banks) == 1:
        return played(scene, hand, banks[0])
    where = "" if scene.game.down is None else f" {target}"
    if not banks:
        return answered(hand, f"No card can be banked{where} now.")
    cards = [
        f"{scene.keys.of(move.source)} {scene.card_name(carried(scene.view, move)[-1])}"
        for move in banks
    ]
    keys = either([scene.keys.of(move.source) for move in banks])
    says = first_that_fits(
        f"Bank which{where}? {', '.join(cards)}; esc drops.",
        f"Bank which{where}? {', '.join(cards)}.",
        f"Bank which{where}? {keys}.",
    )
    return answered(replace(emptied(hand), aim=target), says)


def _take_back(scene: Scene, hand: Hand) -> Turn:
    givers = [pile for pile in TAKE_BACK_INDEX if scene.carries(pile)]
    if not scene.game.up.gives_back:
        # the judge says so of every foundation and column
        reason = refusal(scene.game, scene.view, carry("up.C", "t1"))
        return answered(hand, str(reason))
    if not givers:
        return answered(hand, "No card of a foundation has a place in the columns now.")
    if hand.picked not in givers:
        return picked(scene, hand, givers[0])
    if len(givers) == 1:
        return sent_home(scene, hand)
    return picked(scene, hand, givers[(givers.index(hand.picked) + 1) % len(givers)])


def _next_move(scene: Scene, hand: Hand) -> Turn:
    return _step(scene, hand, 1)


def _previous_move(scene: Scene, hand: Hand) -> Turn:
    return _step(scene, hand, -1)


def _step(scene: Scene, hand: Hand, step: int) -> Turn:
    """Tab: through all legal moves, or through those of what is picked."""
    if hand.picked is not None:
        moves: tuple[Move, ...] = scene.carries(hand.picked, hand.size)
    else:
        moves = scene.to_foundation(hand.aim) if hand.aim is not None else scene.legal
    if not moves:
        return answered(hand, "No move is left on this board.")
    if hand.lit in moves:
        index = (moves.index(hand.lit) + step) % len(moves)
    else:
        index = 0 if step > 0 else len(moves) - 1
    told = describe(scene.game, scene.view, moves[index], scene.card_name)
    says = first_that_fits(
        f"{index + 1} of {len(moves)}: {told}; enter plays it.",
        f"{index + 1} of {len(moves)}: {told}.",
        f"{capitalised(told)}.",
    )
    return answered(replace(hand, lit=moves[index]), says)


def _enter(scene: Scene, hand: Hand) -> Turn:
    if hand.lit is not None:
        return played(scene, hand, hand.lit)
    if hand.picked is not None:
        return sent_home(scene, hand)
    return answered(hand, "Enter plays the move that tab has lit: press tab first.")


def _escape(scene: Scene, hand: Hand) -> Turn:
    if emptied(hand) == hand:
        return answered(hand, "There is nothing in your hand.")
    if hand.picked is None:
        return answered(emptied(hand), "Dropped: nothing is lit any more.")
    return answered(emptied(hand), f"Dropped: {scene.where(hand.picked)} stays as it is.")


def _more(scene: Scene, hand: Hand) -> Turn:
    return _resize(scene, hand, 1)


def _fewer(scene: Scene, hand: Hand) -> Turn:
    return _resize(scene, hand, -1)


def _resize(scene: Scene, hand: Hand, step: int) -> Turn:
    pile = hand.picked
    if pile is None:
        return answered(hand, "+ and - choose how many cards: pick a pile first.")
    sizes = scene.sizes(pile)
    size = hand.size or sizes[-1]
    index = sizes.index(size) + step
    if 0 <= index < len(sizes):
        held = replace(hand, size=sizes[index], lit=None)
        return answered(held, held_words(scene, held))
    if len(sizes) == 1:
        return answered(hand, f"Carried together: {scene.game.columns.packet}.")
    most = "Most" if step > 0 else "Fewest"
    return answered(hand, f"{most} that can go anywhere now: {size}.")


def _quick(_scene: Scene, hand: Hand) -> Turn:
    on = not hand.quick
    says = (
        "Quick on: a pile with only one legal move plays it at once."
        if on
        else "Quick off: a pile's key picks, a second key places."
    )
    return answered(replace(hand, quick=on), says)


def _unknown(scene: Scene, hand: Hand, key: str) -> str:
    says = f"{sanitised(key)[:16]!r} does nothing here:"
    offers = [f"{name} {does}" for name, does in guide_of(scene, hand)]
    while len(f"{says} {', '.join(offers)}.") > LINE:
        offers.pop()
    return f"{says} {', '.join(offers)}."


_OTHER_KEYS: Final[Mapping[str, Callable[[Scene, Hand], Turn]]] = {
    TAKE_BACK_KEY: _take_back,
    "tab": _next_move,
    "shift+tab": _previous_move,
    "enter": _enter,
    "escape": _escape,
    "+": _more,
    "=": _more,
    "-": _fewer,
    QUICK_KEY: _quick,
}

_NO_SUCH_PILE: Final = {"w": "w", "r": "r", "g": "down"} | {
    str(number): f"t{number}" for number in range(1, 10)
}
"""Keys of piles that other games have."""
