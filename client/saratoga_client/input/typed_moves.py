"""Typed moves: `3 5`, `w f`, `draw`, `t3>t5:4`, `3 5 x2`, `bank w`, `b 3`.

Piles are typed by key or by name, with or without blanks between them. Without a size, the largest
packet that fits is carried. A single pile means its key pressed twice.
"""

import re
from collections.abc import Sequence
from typing import Final

from saratoga_client.input.move_text import PILE_KEYS, STOCK, CardName, card_name, either, has_pile
from saratoga_client.input.scene import Scene, banking, nothing_from, scene_of, why_not
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    RESERVE,
    TAKE_BACK_INDEX,
    UP,
    WASTE,
    Carry,
    Move,
    parse_move,
)
from saratoga_rules.play import Refusal, refusal
from saratoga_rules.position import View

MOVE_FORM: Final = (
    "A move is a pile and where it goes, such as 3 5, w f or 3 5 x2; or draw, redeal, bank w."
)
"""The sentence for a line that is no move."""

_SMALL_WORDS: Final = frozenset(
    ["to", "the", "from", "on", "onto", "column", "col", "take", "card", "cards"]
)
_NAMES: Final = {
    **dict.fromkeys(("d", "deal", "space", "stock", "s"), STOCK),
    **dict.fromkeys(("waste", WASTE), WASTE),
    **dict.fromkeys(("reserve", RESERVE), RESERVE),
    **dict.fromkeys((UP, "f", "foundation", "foundations"), UP),
    **dict.fromkeys((DOWN, "g"), DOWN),
    "bank": "bank",
    **dict.fromkeys(("b", "back"), "back"),
    **{name.lower(): name for name in TAKE_BACK_INDEX},
    **{f"{before}{name[1:]}": name for name in COLUMN_NAMES for before in ("", "t", "c")},
}


def typed_move(
    game: Game, view: View, line: str, card_name: CardName = card_name
) -> Move | str | None:
    """Return the legal move of a typed line, or the reason why it is illegal, as a sentence.

    Return `None` for a line that is no move.
    """
    scene = scene_of(game, view, card_name, is_plain=True)
    if line.strip().lower() in ("draw", "redeal"):
        exact = parse_move(line.strip().lower())
        reason = refusal(game, view, exact)
        return exact if reason is None else str(reason)
    words, size = _words(line)
    return _meant(scene, _piles(game, words), size)


def _meant(scene: Scene, piles: list[str], size: int | None) -> Move | str | None:
    match piles:
        case ["stock"] if size is None:
            return scene.draw or nothing_from(scene, STOCK)
        case ["bank", *rest] if {*rest} <= {WASTE, RESERVE, *COLUMN_NAMES}:
            return _banked(scene, *rest)
        case ["up" | "down" as target]:
            return _only(scene.carries(target=target), "No card can be banked there now.")
        case ["back", target] if target not in (STOCK, "bank", "back"):
            return _taken_back(scene, target)
        case ["stock" | "bank" | "back", *_] | [_, "stock" | "bank" | "back"]:
            return None
        case [pile]:
            return _alone(scene, pile, size)
        case [source, target] if source == target and size is None:
            return _alone(scene, source, size)
        case ["up" | "down" as target, source] | [source, target] if source not in (UP, DOWN):
            # The foundation may come first, as with keys.
            return _carried(scene, source, target, size)
        case _:
            return None


def _words(line: str) -> tuple[list[str], int | None]:
    """Return a line's words for piles, and its number of cards or `None` if it has none."""
    text = re.sub(r"[>,]", " ", line.lower())
    text = re.sub(r"\s*[x*:]\s*([0-9]+)", r" x\1", text)
    words = [word for word in text.split() if word not in _SMALL_WORDS]
    size = re.fullmatch("(x?)([0-9]{1,3})", words[-1]) if words else None
    # Without a mark such as x2, a number is a size only after two piles.
    if size and (size[1] or len(words) == 3):
        return words[:-1], int(size[2])
    return words, None


def _piles(game: Game, words: list[str]) -> list[str]:
    """Return the pile of each word, or of each character of a pair; no piles for an unknown word."""
    names = dict(_NAMES)
    if game.columns.count > 9:
        names |= {key: pile for pile, key in PILE_KEYS.items() if pile in COLUMN_NAMES[9:]}
    piles = [names.get(word, "") for word in words]
    if len(words) == 1 and len(words[0]) == 2 and not (piles[0] and has_pile(game, piles[0])):
        # Two keys without a blank, such as w5 or 35.
        pair = [names.get(sign, "") for sign in words[0]]
        piles = pair if all(pair) else piles
    return piles if all(piles) else []


def _only(moves: Sequence[Carry], why: str, sized: str = "") -> Move | str:
    """Return the only move; without any, why there is none; of several, what to type."""
    if not moves:
        return why
    if len(moves) == 1:
        return moves[0]
    choices = [f"{_word(move.source)} {_word(move.target)}{sized}" for move in moves]
    return f"Several are possible: type {either(choices)}."


def _word(pile: str) -> str:
    """Return the word to type for a pile."""
    return {UP: "f", DOWN: "g"}.get(pile, pile.removeprefix("t"))


def _alone(scene: Scene, pile: str, size: int | None) -> Move | str:
    """Return the move of a single pile, as if its key were pressed twice."""
    sized = "" if size is None else f" x{size}"
    moves = scene.largest(pile, size=size)
    return scene.obvious(pile, size) or _only(moves, nothing_from(scene, pile), sized)


def _banked(scene: Scene, pile: str = "") -> Move | str:
    """Return the move of `bank w`, or of `bank` alone if only one card can be banked."""
    banks = banking(scene.carries(pile))
    if banks or not pile:
        return _only(banks, "No card can be banked now.")
    return why_not(scene, pile, UP, 1) if scene.cards(pile) else nothing_from(scene, pile)


def _carried(scene: Scene, source: str, target: str, size: int | None) -> Move | str:
    if target in (WASTE, RESERVE):
        return f"Cards cannot be moved onto {scene.where(target)}."
    for pile in (source, target):
        if not has_pile(scene.game, pile):
            return nothing_from(scene, pile)
    moves = scene.largest(source, target, size)
    return moves[0] if moves else why_not(scene, source, target, size)


def _taken_back(scene: Scene, target: str) -> Move | str:
    """Return the move of `b 3`: taking back the only card that column 3 accepts."""
    moves = [move for pile in TAKE_BACK_INDEX for move in scene.largest(pile, target)]
    if not scene.game.up.gives_back:
        return str(Refusal.NOT_FROM_FOUNDATIONS)
    if target not in COLUMN_NAMES:
        return str(Refusal.ONLY_INTO_COLUMNS)
    return _only(moves, f"No foundation gives a card that {scene.where(target)} takes.")
