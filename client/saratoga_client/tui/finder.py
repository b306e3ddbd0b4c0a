"""Finding cards: a few keys name a rank, a suit or both, and every such card that is seen lights up."""

from dataclasses import dataclass, replace
from typing import Final

RANKS: Final = {
    **{sign: sign for sign in "23456789"},
    "a": "A", "1": "10", "0": "10", "j": "J", "q": "Q", "k": "K",
}  # fmt: skip
SUITS: Final = "chsd"

PROMPT: Final = "Find: a 2-9 0 j q k and c h s d name cards; enter keeps them lit, esc ends."


@dataclass(frozen=True, slots=True)
class Finder:
    """What is looked for."""

    rank: str = ""
    suit: str = ""
    is_open: bool = False
    """Keys name a card; else they are moves again, and the cards stay lit."""

    @property
    def text(self) -> str:
        """As `Marks.find` wants it: `Q`, `H`, `QH`; empty if nothing is looked for."""
        return self.rank + self.suit

    def press(self, key: str) -> "Finder":
        """One more key: a rank, a suit, backspace, or the end of it."""
        if key in RANKS:
            return replace(self, rank=RANKS[key])
        if key in SUITS:
            return replace(self, suit=key.upper())
        if key in ("backspace", "/"):
            return Finder(is_open=True)
        if key == "escape":
            return Finder()
        return replace(self, is_open=False)
