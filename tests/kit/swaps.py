"""Deals that differ only in hidden cards."""

from collections.abc import Sequence

from kit.secrecy import face_down_at_last, turned_up
from saratoga_rules.moves import COLUMN_INDEX, COLUMN_NAMES
from saratoga_rules.position import Position

Slot = tuple[str, int]
"""The place of a hidden card: its pile, and its number there. The piles are the stock and the reserve,
numbered from the top, and each column with face-down cards, numbered from the bottom."""


def slots(opening: Position) -> list[Slot]:
    """Return every slot of the opening that holds a hidden card."""
    of_reserve = range(1, len(opening.reserve))
    found = [("stock", n) for n in range(len(opening.stock))]
    found += [("reserve", n) for n in of_reserve]
    for name, count in zip(COLUMN_NAMES, opening.face_down_counts, strict=False):
        found += [(name, n) for n in range(count)]
    return found


def is_up(slot: Slot, way: Sequence[Position]) -> bool:
    """Return whether the card of that slot was turned up in one of these successive positions."""
    if slot[0] in COLUMN_INDEX:
        return slot[1] >= face_down_at_last(way)[COLUMN_INDEX[slot[0]]]
    drawn, seen = turned_up(way)
    return slot[1] < (drawn if slot[0] == "stock" else seen)


def rearranged(opening: Position, into: dict[Slot, Slot]) -> Position:
    """Return the opening with each slot's card replaced by the card of the slot `into[slot]`."""
    stock, reserve = list(opening.stock), list(opening.reserve)
    cards = {("stock", n): card for n, card in enumerate(opening.stock)}
    cards |= {("reserve", n): card for n, card in enumerate(reversed(opening.reserve))}
    face_down = [list(pile) for pile in opening.face_down]
    for name, below in zip(COLUMN_NAMES, opening.face_down, strict=False):
        cards |= {(name, n): card for n, card in enumerate(below)}
    for (pile, n), source in into.items():
        if pile == "stock":
            stock[n] = cards[source]
        elif pile in COLUMN_INDEX:
            face_down[COLUMN_INDEX[pile]][n] = cards[source]
        else:
            reserve[-1 - n] = cards[source]
    return opening._replace(
        stock=tuple(stock), reserve=tuple(reserve), face_down=tuple(map(tuple, face_down))
    )
