"""The view: a position as its own player may see it.

The whole stock is hidden, the reserve except its top card, and the face-down cards of columns. Every
other card was dealt or turned face up. Only `redact` makes a `View`, and all code that sends positions
takes a `View`, so no hidden card can be sent by mistake. Rivals are sent no view while a race runs: the
deal is shared, so one racer's visible cards are hidden cards of another's board.
"""

from typing import Final, NewType

from saratoga_rules.cards import HIDDEN
from saratoga_rules.position import Position

View = NewType("View", Position)
"""A position in which every card that the player may not see is `HIDDEN`."""

_BACKS: Final = tuple((HIDDEN,) * count for count in range(105))
"""Tuples of hidden cards, by length, up to two packs."""


def redact(position: Position) -> View:
    """Return the position with the cards hidden that the player may not see. A view stays as it is."""
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    shown = _BACKS[len(reserve) - 1] + reserve[-1:] if reserve else reserve
    backs = tuple([_BACKS[len(pile)] for pile in face_down]) if face_down else face_down
    return View(Position(_BACKS[len(stock)], waste, shown, up, down, columns, base, passes, backs))
