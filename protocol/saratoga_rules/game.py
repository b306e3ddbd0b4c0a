"""The type of a game: everything in which one game of patience differs from another.

A game is a value. Its parts are rule words: values that can be called, compared and printed. The
judge, the tests and the help screen read the same value. Of the rules only `games/` names a game.
"""

from dataclasses import dataclass

from saratoga_rules.cards import PACK
from saratoga_rules.vocabulary.deal_steps import DealStep
from saratoga_rules.vocabulary.foundations import Foundations
from saratoga_rules.vocabulary.stocks import Stock
from saratoga_rules.vocabulary.tableau import Columns


@dataclass(frozen=True, kw_only=True)
class Game:
    """The complete rules of one game of patience."""

    name: str
    """The name in commands, in records and on the wire."""
    title: str
    """The name shown to players."""
    packs: int
    pack_price: int
    """Casino dollars for a pack."""
    deal: tuple[DealStep, ...]
    """The steps of the deal, in order; the cards left over are the stock."""
    columns: Columns
    up: Foundations
    down: Foundations | None = None
    stock: Stock

    @property
    def cards(self) -> int:
        """The number of cards in the game; a board is won when all of them are on the foundations."""
        return self.packs * len(PACK)

    def describe(self) -> tuple[tuple[str, str], ...]:
        """Return the rules as a table: each row is a heading and a sentence."""
        foundations = f"{self.up}" if self.down is None else f"{self.up}; {self.down}"
        return (
            ("packs", "one, 52 cards" if self.packs == 1 else f"{self.packs}, {self.cards} cards"),
            ("deal", "; ".join(map(str, self.deal)) + "; the rest is the stock"),
            ("foundations", foundations),
            ("columns", f"{self.columns.count}, built {self.columns.build}"),
            ("carried together", f"{self.columns.packet}"),
            ("empty column", f"{self.columns.space}"),
            ("stock", f"{self.stock}"),
            ("won with", f"{self.cards} cards on the foundations"),
        )
