"""The families of piles that a game's page speaks of."""

from enum import Enum


class Pile(Enum):
    """A family of piles; the value is its name among players."""

    STOCK = "the stock"
    WASTE = "the waste"
    RESERVE = "the reserve"
    COLUMN = "a column"
    FOUNDATION = "a foundation"

    def __str__(self) -> str:
        return self.value
