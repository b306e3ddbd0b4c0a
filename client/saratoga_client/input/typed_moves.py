"""Typed moves: `3 5`, `w f`, `draw`, `t3>t5:4`, `3 5 x2`, `bank w`, `b 3`.

Piles are typed by key or by name, with or without blanks between them. Without a size, the largest
packet that fits is carried. A single pile means its key pressed twice.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from saratoga_client.input.move_text import (
    COLUMN_KEYS,
    STOCK,
    CardName,
    card_name,
    describe,
    plain_pile_name,
)
from saratoga_client.input.pile_keys import DOWN_KEY, TAKE_BACK_KEY, UP_KEY, has_pile
from saratoga_client.input.scene import Scene, nothing_from, refused_words, scene_of, why_not
from saratoga_client.input.selection import Selection, banked_or_placed, either
from saratoga_rules.game import Game
from saratoga_rules.moves import (
    COLUMN_NAMES,
    DOWN,
    DRAW,
    REDEAL,
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

__all__ = ["NotPlayed", "describe", "typed_move"]


@dataclass(frozen=True, slots=True)
class NotPlayed:
    """The result for a typed line that is no legal move."""

    says: str
    """The reason, as a sentence."""
    is_move: bool
    """True if the line was an illegal move, false if it was no move."""


def typed_move(
    game: Game, view: View, line: str, card_name: CardName = card_name
) -> Move | NotPlayed:
    """Return the legal move of a typed line, or the reason why there is none."""
    scene = scene_of(game, view, card_name, plain_pile_name)
    written = _written(line.strip())
    if written is not None:
        return _judged(scene, written)
    words, size = _words(line)
    piles = [*_piles(game, words)]
    if None in piles or not piles or len(piles) > 2:
        return NotPlayed(_FORM, is_move=False)
    first, *rest = (pile for pile in piles if pile is not None)
    if first == _BANK:
        return _banked(scene, rest)
    if first == STOCK and not rest and size is None:
        return _stock(scene)
    if rest and (rest[0] != first or size is not None):
        return _carried(scene, first, rest[0], size)
    return _alone(scene, first, size)


_BANK: Final = "bank"
_TAKE_BACK: Final = "back"
_FORM: Final = (
    "A move is a pile and where it goes, such as 3 5, w f or 3 5 x2; or draw, redeal, bank w."
)

_SIZE: Final = re.compile(r"(?:\s*(?:x|\*|:)\s*|\s+)(?P<size>[0-9]{1,3})(?:\s*cards?)?$")
_SMALL_WORDS: Final = frozenset(("to", "the", "from", "on", "onto", "column", "col", "take"))
_NAMES: Final = {
    "draw": STOCK,
    "d": STOCK,
    "deal": STOCK,
    "space": STOCK,
    "stock": STOCK,
    "s": STOCK,
    "waste": WASTE,
    "reserve": RESERVE,
    "up": UP,
    "foundation": UP,
    "foundations": UP,
    "down": DOWN,
    UP_KEY: UP,
    DOWN_KEY: DOWN,
    WASTE: WASTE,
    RESERVE: RESERVE,
    _BANK: _BANK,
    TAKE_BACK_KEY: _TAKE_BACK,
    _TAKE_BACK: _TAKE_BACK,
    **{name.lower(): name for name in TAKE_BACK_INDEX},
    **{name: name for name in COLUMN_NAMES},
    **{name[1:]: name for name in COLUMN_NAMES},
    **{f"c{name[1:]}": name for name in COLUMN_NAMES},
}


def _written(line: str) -> Move | None:
    """Parse a move in the notation of records, in lower or upper case; `None` for other text."""
    lowered = line.lower()
    if lowered == "draw":
        return DRAW
    if lowered == "redeal":
        return REDEAL
    text = re.sub(r"up\.([cshd])", lambda found: f"up.{found[1].upper()}", lowered)
    try:
        return parse_move(re.sub(r"\s*([>:])\s*", r"\1", text))
    except ValueError:
        return None


def _words(line: str) -> tuple[list[str], int | None]:
    """Return a line's words for piles, and its number of cards or `None` if it has none."""
    text = line.strip().lower().replace(">", " ").replace(",", " ")
    found = _SIZE.search(text)
    marked = found is not None and not found[0].strip()[0].isdigit()
    # Without a mark such as x2, a number is a size only after two piles.
    if found is not None and (marked or len(_real(text[: found.start()])) == 2):
        return _real(text[: found.start()]), int(found["size"])
    return _real(text), None


def _real(text: str) -> list[str]:
    return [word for word in text.split() if word not in _SMALL_WORDS]


def _piles(game: Game, words: list[str]) -> Iterator[str | None]:
    """Yield the pile of each word; `None` for an unknown word."""
    for word in words:
        pile = _pile(game, word)
        if pile is None and len(word) == 2 and len(words) == 1:
            # Two keys without a blank, such as w5 or 35.
            yield from (_pile(game, sign) for sign in word)
        elif pile in COLUMN_NAMES and not has_pile(game, pile) and _is_pair(words, word):
            yield from (_pile(game, sign) for sign in word)
        else:
            yield pile


def _is_pair(words: list[str], word: str) -> bool:
    """Return whether a number that names no column, such as `35`, means two columns."""
    return len(words) == 1 and len(word) == 2 and word.isdigit() and "0" not in word


def _pile(game: Game, word: str) -> str | None:
    if game.columns.count > 9 and word in tuple(COLUMN_KEYS[9:]):
        return COLUMN_NAMES[COLUMN_KEYS.index(word)]
    return _NAMES.get(word)


def _judged(scene: Scene, move: Move) -> Move | NotPlayed:
    reason = refusal(scene.game, scene.view, move)
    if reason is None:
        return move
    if isinstance(move, Carry) and has_pile(scene.game, move.source):
        return NotPlayed(refused_words(scene, move, reason), is_move=True)
    return NotPlayed(str(reason), is_move=True)


def _stock(scene: Scene) -> Move | NotPlayed:
    moves = scene.from_pile(STOCK)
    return moves[0] if moves else NotPlayed(nothing_from(scene, STOCK), is_move=True)


def _banked(scene: Scene, rest: list[str]) -> Move | NotPlayed:
    """Return the move of `bank w`, or of `bank` alone if only one card can be banked."""
    banks = [*scene.to_foundation(UP), *scene.to_foundation(DOWN)]
    if rest and rest[0] not in (WASTE, RESERVE, *COLUMN_NAMES):
        return NotPlayed(_FORM, is_move=False)
    if rest:
        banks = [move for move in banks if move.source == rest[0]]
    if len(banks) == 1:
        return banks[0]
    if banks:
        choices = either([f"{_word(move.source)} {_word(move.target)}" for move in banks])
        return NotPlayed(f"Several are possible: type {choices}.", is_move=True)
    if not rest:
        return NotPlayed("No card can be banked now.", is_move=True)
    if scene.top(rest[0]) is None:
        return NotPlayed(nothing_from(scene, rest[0]), is_move=True)
    return NotPlayed(why_not(scene, rest[0], UP, 1), is_move=True)


def _carried(scene: Scene, source: str, target: str, size: int | None) -> Move | NotPlayed:
    if source == _TAKE_BACK:
        return _taken_back(scene, target)
    if {source, target} & {STOCK, _BANK} or target == _TAKE_BACK:
        return NotPlayed(_FORM, is_move=False)
    if source in (UP, DOWN) and target not in (UP, DOWN):
        # The foundation may come first, as with keys.
        source, target = target, source
    if target in (WASTE, RESERVE):
        return NotPlayed(f"Cards cannot be moved onto {scene.where(target)}.", is_move=True)
    if source in (UP, DOWN):
        return NotPlayed(_FORM, is_move=False)
    for pile in (source, target):
        if not has_pile(scene.game, pile):
            return NotPlayed(nothing_from(scene, pile), is_move=True)
    move = scene.carry(source, target, size)
    return move or NotPlayed(why_not(scene, source, target, size), is_move=True)


def _taken_back(scene: Scene, target: str) -> Move | NotPlayed:
    """Return the move of `b 3`: taking back the only card that column 3 accepts."""
    moves = [move for pile in TAKE_BACK_INDEX if (move := scene.carry(pile, target)) is not None]
    if len(moves) == 1:
        return moves[0]
    if moves:
        choices = either([f"{move.source} {_word(target)}" for move in moves])
        return NotPlayed(f"Several are possible: type {choices}.", is_move=True)
    if not scene.game.up.gives_back:
        return NotPlayed(str(Refusal.NOT_FROM_FOUNDATIONS), is_move=True)
    if target not in COLUMN_NAMES:
        return NotPlayed(str(Refusal.ONLY_INTO_COLUMNS), is_move=True)
    says = f"No foundation gives a card that {scene.where(target)} takes."
    return NotPlayed(says, is_move=True)


def _alone(scene: Scene, pile: str, size: int | None) -> Move | NotPlayed:
    """Return the move of a single pile: its key twice, or a foundation's key once."""
    if pile in (UP, DOWN):
        banks = scene.to_foundation(pile)
        if len(banks) == 1:
            return banks[0]
        choices = either([f"{_word(move.source)} {_word(pile)}" for move in banks])
        says = (
            f"Several are possible: type {choices}."
            if banks
            else "No card can be banked there now."
        )
        return NotPlayed(says, is_move=True)
    if pile in (_TAKE_BACK, STOCK, _BANK):
        return NotPlayed(_FORM, is_move=False)
    carries = scene.carries(pile, size)
    if not carries:
        return NotPlayed(nothing_from(scene, pile), is_move=True)
    result = banked_or_placed(scene, Selection(picked=pile, size=size))
    if result.move is not None:
        return result.move
    sized = "" if size is None else f" x{size}"
    targets = dict.fromkeys(move.target for move in carries)
    choices = either([f"{_word(pile)} {_word(target)}{sized}" for target in targets])
    return NotPlayed(f"Several are possible: type {choices}.", is_move=True)


def _word(pile: str) -> str:
    """Return the word to type for a pile."""
    if pile in COLUMN_NAMES:
        return pile[1:]
    return {UP: UP_KEY, DOWN: DOWN_KEY}.get(pile, pile)
