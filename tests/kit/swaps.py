"""Deals that differ only in hidden cards."""

from collections.abc import Sequence

from kit.secrecy import turned_up
from saratoga_rules.position import Position

Slot = tuple[str, int]
"""The place of a hidden card: its pile (stock or reserve), and its number from the top."""


def slots(opening: Position) -> list[Slot]:
    """Return every slot of the opening's stock and reserve that holds a hidden card."""
    of_reserve = range(1, len(opening.reserve))
    return [("stock", n) for n in range(len(opening.stock))] + [("reserve", n) for n in of_reserve]


def is_up(slot: Slot, way: Sequence[Position]) -> bool:
    """Return whether the card of that slot was turned up in one of these successive positions."""
    drawn, seen = turned_up(way)
    return slot[1] < (drawn if slot[0] == "stock" else seen)


def rearranged(opening: Position, into: dict[Slot, Slot]) -> Position:
    """Return the opening with each slot's card replaced by the card of the slot `into[slot]`."""
    stock, reserve = list(opening.stock), list(opening.reserve)
    cards = {("stock", n): card for n, card in enumerate(opening.stock)}
    cards |= {("reserve", n): card for n, card in enumerate(reversed(opening.reserve))}
    for (pile, n), source in into.items():
        if pile == "stock":
            stock[n] = cards[source]
        else:
            reserve[-1 - n] = cards[source]
    return opening._replace(stock=tuple(stock), reserve=tuple(reserve))
