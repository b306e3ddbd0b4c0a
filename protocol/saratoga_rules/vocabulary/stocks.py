"""Rule words for the stock: how cards are drawn, and how often."""

from dataclasses import dataclass
from typing import Final

from saratoga_rules.piles import Pile

UNLIMITED: Final = 10**9
"""The number of passes that stands for "any number": more than a game can have."""


@dataclass(frozen=True)
class Stock:
    """The rule for the stock: what a draw does, and the number of passes."""

    onto: Pile
    draw: int
    """Cards that a draw turns onto the waste; 1 if a draw deals a card to each column."""
    passes: int = UNLIMITED

    def __str__(self) -> str:
        if self.onto is Pile.COLUMN:
            return f"a card to each column, {self._passes()}"
        return f"{_count(self.draw, 'card')} at a time onto the waste, {self._passes()}"

    def _passes(self) -> str:
        return "as often as you like" if self.passes == UNLIMITED else _count(self.passes, "pass")


def turned(draw: int, *, passes: int = UNLIMITED) -> Stock:
    """Return the rule that a draw turns `draw` cards onto the waste; the last may turn fewer."""
    return Stock(Pile.WASTE, draw, passes)


def dealt_to_columns() -> Stock:
    """Return the rule that a draw deals a card to each column from the left; there is no waste."""
    return Stock(Pile.COLUMN, 1, passes=1)


def _count(number: int, noun: str) -> str:
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number} {noun}{plural}"
