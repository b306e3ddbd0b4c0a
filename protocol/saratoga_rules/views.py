"""What a player may see of their own board.

Hidden are the stock, all of it, and the reserve but for its top card; every other card was dealt
or turned face up. Only `redact` makes a `View`, and whatever sends positions takes a `View`: so
no hidden card can go out by oversight. Rivals see no view at all while a race runs: on a shared
deal one racer's cards are another's secrets.
"""

from typing import Final, NewType

from saratoga_rules.cards import HIDDEN
from saratoga_rules.position import Position

View = NewType("View", Position)
"""A position in which every card that its player may not see is `HIDDEN`."""

_BACKS: Final = tuple((HIDDEN,) * count for count in range(105))
"""Packets of hidden cards by their size, up to two whole packs."""


def redact(position: Position) -> View:
    """Show a position to its own player; redacting a view changes nothing."""
    stock, waste, reserve, up, down, columns, base, passes = position
    shown = _BACKS[len(reserve) - 1] + reserve[-1:] if reserve else reserve
    return View(Position(_BACKS[len(stock)], waste, shown, up, down, columns, base, passes))
