"""The search for cards: keys name a rank, a suit or both, and the board highlights these cards."""

from dataclasses import dataclass, replace
from typing import Final

RANKS: Final = {
    **{sign: sign for sign in "23456789"},
    "a": "A", "1": "10", "0": "10", "j": "J", "q": "Q", "k": "K",
}  # fmt: skip
SUITS: Final = "chsd"

PROMPT: Final = (
    "Find: a 2-9 0 j q k and c h s d name cards; enter keeps them highlighted, esc ends."
)


@dataclass(frozen=True, slots=True)
class Finder:
    """A search for cards: the rank, the suit, and the mode of the keys."""

    rank: str = ""
    suit: str = ""
    is_open: bool = False
    """True while keys name cards; while false, keys play and found cards stay highlighted."""

    @property
    def text(self) -> str:
        """The search in the form of `Marks.find`: `Q`, `H` or `QH`; empty without a search."""
        return self.rank + self.suit

    def press(self, key: str) -> "Finder":
        """Return the search after a key: a rank, a suit, backspace, or a key that ends it."""
        if key in RANKS:
            return replace(self, rank=RANKS[key])
        if key in SUITS:
            return replace(self, suit=key.upper())
        if key in ("backspace", "/"):
            return Finder(is_open=True)
        if key == "escape":
            return Finder()
        return replace(self, is_open=False)
