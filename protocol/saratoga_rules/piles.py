"""The families of piles that a game's page speaks of."""

from typing import ClassVar


class Pile(str):
    """A family of piles, by its name among players.

    Plain strings, since the judge asks for them all the time and the members of an enum are slow
    to reach.
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
