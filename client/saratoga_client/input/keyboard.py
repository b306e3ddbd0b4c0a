"""The result of each key: a move, or a message; and the keys that work now.

The player picks a pile with its key and places the cards with another key, names a foundation
first, or steps through the legal moves with Tab. An `InputResult` never has an illegal move.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from saratoga_client.input.move_text import (
    LINE,
    STOCK,
    carried,
    describe,
    first_that_fits,
    source_of,
    target_of,
)
from saratoga_client.input.pile_keys import (
    DOWN_KEY,
    QUICK_KEY,
    STOCK_KEY,
    TAKE_BACK_KEY,
    UP_KEY,
    key_called,
)
from saratoga_client.input.scene import Scene, nothing_from, packet_text, why_not
from saratoga_client.input.selection import (
    InputResult,
    Selection,
    answered,
    banked_or_placed,
    cleared,
    drawn,
    either,
    picked,
    placed,
    played,
    revalidated,
    selection_text,
)
from saratoga_client.wording import capitalised
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Draw,
    Move,
)
from saratoga_rules.piles import Pile
from saratoga_rules.play import refusal


def press(scene: Scene, selection: Selection, key: str) -> InputResult:
    """Return the result of a key; `key` is Textual's name of the key, or its character."""
    selection = revalidated(scene, replace(selection, clicked=None))
    called = key_called(key)
    pile = scene.keys.by_key.get(called)
    if pile in (UP, DOWN):
        return _foundation(scene, selection, pile)
    if pile == STOCK:
        return drawn(scene, selection)
    if pile is not None:
        return _pile(scene, selection, pile)
    if called in _OTHER_KEYS:
        return _OTHER_KEYS[called](scene, selection)
    if called in _NO_SUCH_PILE:
        return answered(selection, nothing_from(scene, _NO_SUCH_PILE[called]))
    return answered(selection, _unknown(scene, selection, key))


class SelectionMarks(NamedTuple):
    """The highlights of a selection."""

    picked: tuple[str, int] | None
    """The pile with selected cards, and their number; `None` without selected cards."""
    targets: frozenset[str]
    """The piles that accept the cards; foundations have their suit: `up.D`."""
    sources: frozenset[str]
    """The piles from which cards can be picked."""


def marks(scene: Scene, selection: Selection) -> SelectionMarks:
    """Return the highlights of a selection."""
    view = scene.view
    selection = revalidated(scene, selection)
    if selection.lit is not None:
        return _lit_marks(scene, selection.lit)
    if selection.picked is not None:
        carries = scene.carries(selection.picked, selection.size)
        count = max(move.count for move in carries)
        targets = frozenset(target_of(view, move) for move in carries)
        return SelectionMarks((selection.picked, count), targets, frozenset())
    if selection.aim is not None:
        banks = scene.to_foundation(selection.aim)
        return SelectionMarks(
            None,
            frozenset(target_of(view, move) for move in banks),
            frozenset(move.source for move in banks),
        )
    return SelectionMarks(None, frozenset(), frozenset(map(source_of, scene.legal)))


def _lit_marks(scene: Scene, move: Move) -> SelectionMarks:
    if isinstance(move, Carry):
        targets = frozenset((target_of(scene.view, move),))
        return SelectionMarks((move.source, move.count), targets, frozenset())
    if scene.game.stock.onto is Pile.WASTE:
        return SelectionMarks((STOCK, 1), frozenset((WASTE,)), frozenset())
    row = COLUMN_NAMES[: min(len(scene.view.stock), scene.game.columns.count)]
    return SelectionMarks((STOCK, 1), frozenset(row), frozenset())


def _pile(scene: Scene, selection: Selection, pile: str) -> InputResult:
    if selection.aim is not None:
        move = scene.carry(pile, selection.aim, 1)
        if move is not None:
            return played(scene, selection, move)
        return answered(selection, why_not(scene, pile, selection.aim, 1))
    if selection.picked == pile:
        return banked_or_placed(scene, selection)
    if selection.picked is not None and pile in COLUMN_NAMES:
        return placed(scene, selection, pile)
    moves = scene.from_pile(pile)
    if selection.quick and selection.picked is None and len(moves) == 1:
        return played(scene, selection, moves[0])
    return picked(scene, selection, pile)


def _foundation(scene: Scene, selection: Selection, target: str) -> InputResult:
    if selection.picked is not None:
        return placed(scene, selection, target)
    banks = scene.to_foundation(target)
    if len(banks) == 1:
        return played(scene, selection, banks[0])
    where = "" if scene.game.down is None else f" {target}"
    if not banks:
        return answered(selection, f"No card can be banked{where} now.")
    cards = [
        f"{scene.keys.of(move.source)} {scene.card_name(carried(scene.view, move)[-1])}"
        for move in banks
    ]
    keys = either([scene.keys.of(move.source) for move in banks])
    says = first_that_fits(
        f"Bank which{where}? {', '.join(cards)}; esc cancels.",
        f"Bank which{where}? {', '.join(cards)}.",
        f"Bank which{where}? {keys}.",
    )
    return answered(replace(cleared(selection), aim=target), says)


def _take_back(scene: Scene, selection: Selection) -> InputResult:
    givers = [pile for pile in TAKE_BACK_INDEX if scene.carries(pile)]
    if not scene.game.up.gives_back:
        # The refusal is the same for every foundation and column.
        reason = refusal(scene.game, scene.view, Carry("up.C", "t1"))
        return answered(selection, str(reason))
    if not givers:
        return answered(selection, "No card of a foundation has a place in the columns now.")
    if selection.picked not in givers:
        return picked(scene, selection, givers[0])
    if len(givers) == 1:
        return banked_or_placed(scene, selection)
    return picked(scene, selection, givers[(givers.index(selection.picked) + 1) % len(givers)])


def _step(scene: Scene, selection: Selection, step: int) -> InputResult:
    """Select the next legal move, `step` further; with selected cards, one of their moves."""
    if selection.picked is not None:
        moves: tuple[Move, ...] = scene.carries(selection.picked, selection.size)
    else:
        moves = scene.to_foundation(selection.aim) if selection.aim is not None else scene.legal
    if not moves:
        return answered(selection, "No move is left on this board.")
    if selection.lit in moves:
        index = (moves.index(selection.lit) + step) % len(moves)
    else:
        index = 0 if step > 0 else len(moves) - 1
    move_text = describe(scene.game, scene.view, moves[index], scene.card_name)
    says = first_that_fits(
        f"{index + 1} of {len(moves)}: {move_text}; enter plays it.",
        f"{index + 1} of {len(moves)}: {move_text}.",
        f"{capitalised(move_text)}.",
    )
    return answered(replace(selection, lit=moves[index]), says)


def _enter(scene: Scene, selection: Selection) -> InputResult:
    if selection.lit is not None:
        return played(scene, selection, selection.lit)
    if selection.picked is not None:
        return banked_or_placed(scene, selection)
    return answered(selection, "Enter plays the move that Tab has chosen: press Tab first.")


def _escape(scene: Scene, selection: Selection) -> InputResult:
    if cleared(selection) == selection:
        return answered(selection, "Nothing is selected.")
    if selection.picked is None:
        return answered(cleared(selection), "Selection cleared.")
    return answered(cleared(selection), f"Pick-up from {scene.where(selection.picked)} cancelled.")


def _resize(scene: Scene, selection: Selection, step: int) -> InputResult:
    pile = selection.picked
    if pile is None:
        return answered(selection, "+ and - choose how many cards: pick a pile first.")
    sizes = scene.sizes(pile)
    size = selection.size or sizes[-1]
    index = sizes.index(size) + step
    if 0 <= index < len(sizes):
        held = replace(selection, size=sizes[index], lit=None)
        return answered(held, selection_text(scene, held))
    if len(sizes) == 1:
        return answered(selection, packet_text(scene.game))
    most = "Most" if step > 0 else "Fewest"
    return answered(selection, f"{most} that can go anywhere now: {size}.")


def _quick(_scene: Scene, selection: Selection) -> InputResult:
    on = not selection.quick
    says = (
        "Quick on: a pile with only one legal move plays it at once."
        if on
        else "Quick off: a pile's key picks, a second key places."
    )
    return answered(replace(selection, quick=on), says)


def _unknown(scene: Scene, selection: Selection, key: str) -> str:
    says = f"{key[:16]!r} does nothing here:"
    offers = [f"{name} {does}" for name, does in key_hints(scene, selection)]
    while len(f"{says} {', '.join(offers)}.") > LINE:
        offers.pop()
    return f"{says} {', '.join(offers)}."


def key_hints(scene: Scene, selection: Selection) -> tuple[tuple[str, str], ...]:
    """Return the keys that work now, each with its effect, the least important last."""
    selection = revalidated(scene, selection)
    if selection.lit is not None:
        return (("enter", "play"), ("tab", "next move"), ("esc", "drop"))
    if selection.picked is not None:
        return _holding_hints(scene, selection, selection.picked)
    if selection.aim is not None:
        keys = " ".join(scene.keys.of(move.source) for move in scene.to_foundation(selection.aim))
        return ((keys, "bank"), ("esc", "drop"))
    return _free_hints(scene, selection)


def _holding_hints(scene: Scene, selection: Selection, pile: str) -> tuple[tuple[str, str], ...]:
    targets = {move.target for move in scene.carries(pile, selection.size)}
    columns = [scene.keys.of(name) for name in COLUMN_NAMES if name in targets]
    offers = [
        (" ".join(columns), "place" if columns else ""),
        *_banks(scene, UP in targets, DOWN in targets),
        ("+ -", "how many" if len(scene.sizes(pile)) > 1 else ""),
        ("tab", "moves"),
        ("esc", "drop"),
    ]
    return tuple((key, does) for key, does in offers if does)


def _free_hints(scene: Scene, selection: Selection) -> tuple[tuple[str, str], ...]:
    sources = {move.source for move in scene.legal if isinstance(move, Carry)}
    piles = _run(scene.keys.columns) if sources & set(COLUMN_NAMES) else ""
    piles = " ".join(filter(None, (piles, *(pile for pile in (WASTE, RESERVE) if pile in sources))))
    offers = [
        (STOCK_KEY, _stock_words(scene)),
        (piles, "pick" if piles else ""),
        *_banks(scene, bool(scene.to_foundation(UP)), bool(scene.to_foundation(DOWN))),
        ("tab", "moves" if scene.legal else ""),
        (TAKE_BACK_KEY, "take back" if sources & set(TAKE_BACK_INDEX) else ""),
        (QUICK_KEY, "quick off" if selection.quick else "quick"),
    ]
    return tuple((key, does) for key, does in offers if does)


def _banks(scene: Scene, up: bool, down: bool) -> list[tuple[str, str]]:
    both = scene.game.down is not None
    return [
        (UP_KEY, ("bank up" if both else "bank") if up else ""),
        (DOWN_KEY, "bank down" if down else ""),
    ]


def _stock_words(scene: Scene) -> str:
    moves = scene.from_pile(STOCK)
    if not moves:
        return ""
    if not isinstance(moves[0], Draw):
        return "redeal"
    if scene.game.stock.onto is Pile.COLUMN:
        return "deal a row"
    return f"draw {min(scene.game.stock.draw, len(scene.view.stock))}"


def _run(keys: tuple[str, ...]) -> str:
    """Return the keys of the columns in short: `1-4`; in Caprice `1-9 0 - =`."""
    digits = [key for key in keys if key in "123456789"]
    return " ".join((f"{digits[0]}-{digits[-1]}", *keys[len(digits) :]))


_OTHER_KEYS: Final[Mapping[str, Callable[[Scene, Selection], InputResult]]] = {
    TAKE_BACK_KEY: _take_back,
    "tab": partial(_step, step=1),
    "shift+tab": partial(_step, step=-1),
    "enter": _enter,
    "escape": _escape,
    "+": partial(_resize, step=1),
    "=": partial(_resize, step=1),
    "-": partial(_resize, step=-1),
    QUICK_KEY: _quick,
}

_NO_SUCH_PILE: Final = {"w": "w", "r": "r", "g": "down"} | {
    str(number): f"t{number}" for number in range(1, 10)
}
"""The pile names by key, for keys whose pile only some games have."""
