"""The key of every pile, the same in all games."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from saratoga_client.input.move_text import COLUMN_KEYS, STOCK
from saratoga_rules.cards import SUITS
from saratoga_rules.game import Game
from saratoga_rules.moves import COLUMN_NAMES, DOWN, RESERVE, UP, WASTE
from saratoga_rules.piles import Pile
from saratoga_rules.vocabulary.deal_steps import ToReserve

STOCK_KEY: Final = "space"
UP_KEY: Final = "f"
DOWN_KEY: Final = "g"
TAKE_BACK_KEY: Final = "b"
QUICK_KEY: Final = "o"

_ALIASES: Final = {
    " ": "space",
    "d": "space",
    "minus": "-",
    "equals_sign": "=",
    "plus": "+",
    "return": "enter",
    "esc": "escape",
    "backtab": "shift+tab",
    "\t": "tab",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
}


def key_called(name: str) -> str:
    """Return this program's name of a key for a terminal's or Textual's name.

    >>> key_called("equals_sign"), key_called("F"), key_called(" ")
    ('=', 'f', 'space')
    """
    lowered = name.lower()
    return _ALIASES.get(lowered, lowered)


@dataclass(frozen=True, slots=True)
class PileKeys:
    """The keys of a game's piles, by pile and by key."""

    by_pile: Mapping[str, str]
    """The key shown beside each pile: `stock`, `w`, `r`, `t1`.., `up.S`.., `down.S`.."""
    by_key: Mapping[str, str]
    """The pile of each key: `stock`, `w`, `r`, `t1`.., `up`, `down`."""

    def of(self, pile: str) -> str:
        """Return the key of a pile; `up` and `down` stand for all foundations of a kind."""
        return self.by_pile.get(pile) or {UP: UP_KEY, DOWN: DOWN_KEY}.get(pile, "")

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the keys of the columns, from the left."""
        return tuple(key for key, pile in self.by_key.items() if pile in COLUMN_NAMES)


@cache
def pile_keys(game: Game) -> PileKeys:
    """Return the keys of a game's piles."""
    by_pile = {STOCK: STOCK_KEY}
    by_key = {STOCK_KEY: STOCK}
    for pile in (WASTE, RESERVE):
        if has_pile(game, pile):
            by_pile[pile] = by_key[pile] = pile
    for key, column in zip(COLUMN_KEYS, COLUMN_NAMES[: game.columns.count], strict=False):
        by_pile[column], by_key[key] = key, column
    by_key[UP_KEY] = UP
    by_pile |= {f"{UP}.{letter}": UP_KEY for letter in SUITS}
    if game.down is not None:
        by_key[DOWN_KEY] = DOWN
        by_pile |= {f"{DOWN}.{letter}": DOWN_KEY for letter in SUITS}
    return PileKeys(by_pile, by_key)


def has_pile(game: Game, pile: str) -> bool:
    """Return whether a game has this pile, empty or not."""
    if pile == WASTE:
        return game.stock.onto is Pile.WASTE
    if pile == RESERVE:
        return any(isinstance(step, ToReserve) for step in game.deal)
    if pile.startswith("t"):
        return pile in COLUMN_NAMES[: game.columns.count]
    if pile.partition(".")[0] == DOWN:
        return game.down is not None
    return pile == STOCK or pile.partition(".")[0] == UP
