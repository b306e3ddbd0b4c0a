"""The families of piles: stock, waste, reserve, columns and foundations."""

from typing import ClassVar


class Pile(str):
    """A family of piles, as a string that players can read.

    Not an enum: every move reads these values, and enum members are slow to access.
    """

    __slots__ = ()

    STOCK: ClassVar["Pile"]
    WASTE: ClassVar["Pile"]
    RESERVE: ClassVar["Pile"]
    COLUMN: ClassVar["Pile"]
    FOUNDATION: ClassVar["Pile"]


Pile.STOCK = Pile("the stock")
Pile.WASTE = Pile("the waste")
Pile.RESERVE = Pile("the reserve")
Pile.COLUMN = Pile("a column")
Pile.FOUNDATION = Pile("a foundation")
