"""The result of each key: a move, or a message; and the keys that work now.

The player picks a pile with its key and places the cards with another key, names a foundation
first, or steps through the legal moves with Tab. An `InputResult` never has an illegal move.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from saratoga_client.input.move_text import (
    LINE,
    PILE_KEYS,
    STOCK,
    carried,
    column_keys,
    describe,
    either,
    first_that_fits,
    has_pile,
    key_of,
)
from saratoga_client.input.scene import Scene, nothing_from, packet_text
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
from saratoga_client.wording import capitalised
from saratoga_rules.moves import COLUMN_NAMES, DOWN, RESERVE, TAKE_BACK_INDEX, UP, WASTE, Draw, Move
from saratoga_rules.piles import Pile
from saratoga_rules.play import Refusal

TAKE_BACK_KEY: Final = "b"
QUICK_KEY: Final = "o"

_PILES: Final = {key: pile for pile, key in PILE_KEYS.items()} | {"d": STOCK}


def press(scene: Scene, selection: Selection, key: str) -> InputResult:
    """Return the result of a key: its character, or Textual's name of it, such as `space`."""
    selection = revalidated(scene, replace(selection, clicked=None))
    pile = _PILES.get(key)
    if pile is not None and has_pile(scene.game, pile):
        return _pile(scene, selection, pile)
    if key in _OTHER_KEYS:
        return _OTHER_KEYS[key](scene, selection)
    if pile is not None:
        return InputResult(selection, nothing_from(scene, pile))
    if key in ("z", "u", "ctrl+z"):
        return InputResult(selection, "Races have no undo.")
    says = f"{key[:16]!r} does nothing here:"
    offers = [f"{name} {does}" for name, does in key_hints(scene, selection)]
    while len(f"{says} {', '.join(offers)}.") > LINE:
        offers.pop()
    return InputResult(selection, f"{says} {', '.join(offers)}.")


def _pile(scene: Scene, selection: Selection, pile: str) -> InputResult:
    if pile == STOCK:
        return drawn(scene, selection)
    held = selection.picked
    if held is None and pile in (UP, DOWN):
        return _aim(scene, selection, pile)
    if selection.aim is not None:
        return placed(scene, selection, pile, selection.aim)
    if held == pile:
        return placed_at_once(scene, selection, pile, selection.size)
    if held is not None and pile in (*COLUMN_NAMES, UP, DOWN):
        return placed(scene, selection, held, pile)
    moves = scene.carries(pile)
    if selection.quick and held is None and len(moves) == 1:
        return played(scene, selection, moves[0])
    return picked(scene, selection, pile)


def _aim(scene: Scene, selection: Selection, target: str) -> InputResult:
    """Bank the only card that a foundation takes; of several cards, ask for the pile."""
    banks = scene.carries(target=target)
    if len(banks) == 1:
        return played(scene, selection, banks[0])
    where = "" if scene.game.down is None else f" {target}"
    if not banks:
        return InputResult(selection, f"No card can be banked{where} now.")
    keys = [key_of(move.source) for move in banks]
    tops = (scene.card_name(carried(scene.view, move)[-1]) for move in banks)
    cards = ", ".join(f"{key} {card}" for key, card in zip(keys, tops, strict=True))
    says = first_that_fits(
        f"Bank which{where}? {cards}; esc cancels.", f"Bank which{where}? {either(keys)}."
    )
    return InputResult(replace(cleared(selection), aim=target), says)


def _take_back(scene: Scene, selection: Selection) -> InputResult:
    """Pick the top card of a foundation, or that of the next one."""
    givers = [pile for pile in TAKE_BACK_INDEX if scene.carries(pile)]
    if not scene.game.up.gives_back:
        return InputResult(selection, str(Refusal.NOT_FROM_FOUNDATIONS))
    if not givers:
        return InputResult(selection, "No card of a foundation has a place in the columns now.")
    if [selection.picked] == givers:
        return placed_at_once(scene, selection, givers[0], None)
    following = givers.index(selection.picked) + 1 if selection.picked in givers else 0
    return picked(scene, selection, givers[following % len(givers)])


def _step(scene: Scene, selection: Selection, step: int) -> InputResult:
    """Select the next legal move, `step` further; with selected cards, one of their moves."""
    moves: tuple[Move, ...] = scene.legal
    if selection.picked is not None or selection.aim is not None:
        moves = scene.carries(selection.picked or "", selection.aim or "", selection.size)
    if not moves:
        return InputResult(selection, "No move is left on this board.")
    if selection.lit in moves:
        index = (moves.index(selection.lit) + step) % len(moves)
    else:
        index = 0 if step > 0 else len(moves) - 1
    move_text = describe(scene.game, scene.view, moves[index], scene.card_name)
    says = first_that_fits(
        f"{index + 1} of {len(moves)}: {move_text}; enter plays it.", f"{capitalised(move_text)}."
    )
    return InputResult(replace(selection, lit=moves[index]), says)


def _enter(scene: Scene, selection: Selection) -> InputResult:
    if selection.lit is not None:
        return played(scene, selection, selection.lit)
    if selection.picked is not None:
        return placed_at_once(scene, selection, selection.picked, selection.size)
    return InputResult(selection, "Enter plays the move that Tab has chosen: press Tab first.")


def _escape(scene: Scene, selection: Selection) -> InputResult:
    if cleared(selection) == selection:
        return InputResult(selection, "Nothing is selected.")
    if selection.picked is None:
        return InputResult(cleared(selection), "Selection cleared.")
    return InputResult(
        cleared(selection), f"Pick-up from {scene.where(selection.picked)} cancelled."
    )


def _resize(scene: Scene, selection: Selection, step: int) -> InputResult:
    """Select one of the numbers of cards that can be carried, `step` further."""
    pile = selection.picked
    if pile is None:
        return InputResult(selection, "+ and - choose how many cards: pick a pile first.")
    sizes = scene.sizes(pile)
    size = selection.size or sizes[-1]
    index = sizes.index(size) + step
    if 0 <= index < len(sizes):
        return picked(scene, selection, pile, sizes[index])
    if len(sizes) == 1:
        return InputResult(selection, packet_text(scene.game))
    most = "Most" if step > 0 else "Fewest"
    return InputResult(selection, f"{most} that can go anywhere now: {size}.")


def _quick(_scene: Scene, selection: Selection) -> InputResult:
    on = not selection.quick
    says = (
        "Quick on: a pile with only one legal move plays it at once."
        if on
        else "Quick off: a pile's key picks, a second key places."
    )
    return InputResult(replace(selection, quick=on), says)


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


def key_hints(scene: Scene, selection: Selection) -> tuple[tuple[str, str], ...]:
    """Return the keys that work now, each with its effect, the least important last."""
    selection = revalidated(scene, selection)
    if selection.lit is not None:
        return (("enter", "play"), ("tab", "next move"), ("esc", "drop"))
    if selection.aim is not None:
        keys = " ".join(key_of(move.source) for move in scene.carries(target=selection.aim))
        return ((keys, "bank"), ("esc", "drop"))
    pile = selection.picked
    carries = scene.carries(pile or "", size=selection.size)
    sources, targets = ({move.source for move in carries}, {move.target for move in carries})
    banks = [
        ("f", ("bank up" if scene.game.down else "bank") if UP in targets else ""),
        ("g", "bank down" if DOWN in targets else ""),
    ]
    if pile is not None:
        columns = " ".join(key_of(name) for name in COLUMN_NAMES if name in targets)
        offers = [
            (columns, "place" if columns else ""),
            *banks,
            ("+ -", "how many" if len(scene.sizes(pile)) > 1 else ""),
            ("tab", "moves"),
            ("esc", "drop"),
        ]
    else:
        columns = column_keys(scene.game) if sources & set(COLUMN_NAMES) else ""
        piles = " ".join(filter(None, (columns, *(p for p in (WASTE, RESERVE) if p in sources))))
        offers = [
            ("space", _stock_words(scene)),
            (piles, "pick" if piles else ""),
            *banks,
            ("tab", "moves" if scene.legal else ""),
            (TAKE_BACK_KEY, "take back" if sources & set(TAKE_BACK_INDEX) else ""),
            (QUICK_KEY, "quick off" if selection.quick else "quick"),
        ]
    return tuple((key, does) for key, does in offers if does)


def _stock_words(scene: Scene) -> str:
    if not isinstance(scene.draw, Draw):
        return "redeal" if scene.draw else ""
    if scene.game.stock.onto is Pile.COLUMN:
        return "deal a row"
    return f"draw {min(scene.game.stock.draw, len(scene.view.stock))}"
