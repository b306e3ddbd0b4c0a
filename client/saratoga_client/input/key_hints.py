"""The contents of the key line: the keys that work now, with their effects."""

from saratoga_client.input.move_text import STOCK
from saratoga_client.input.pile_keys import (
    DOWN_KEY,
    QUICK_KEY,
    STOCK_KEY,
    TAKE_BACK_KEY,
    UP_KEY,
)
from saratoga_client.input.scene import Scene
from saratoga_client.input.selection import Selection, revalidated
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Draw,
)
from saratoga_rules.piles import Pile


def key_hints(scene: Scene, selection: Selection) -> tuple[tuple[str, str], ...]:
    """Return the keys that work now, each with its effect, the least important last."""
    selection = revalidated(scene, selection)
    if selection.lit is not None:
        return (("enter", "play"), ("tab", "next move"), ("esc", "drop"))
    if selection.picked is not None:
        return _holding(scene, selection, selection.picked)
    if selection.aim is not None:
        keys = " ".join(scene.keys.of(move.source) for move in scene.to_foundation(selection.aim))
        return ((keys, "bank"), ("esc", "drop"))
    return _free(scene, selection)


def _holding(scene: Scene, selection: Selection, pile: str) -> tuple[tuple[str, str], ...]:
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


def _free(scene: Scene, selection: Selection) -> tuple[tuple[str, str], ...]:
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
