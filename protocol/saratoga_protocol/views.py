"""Convert a player's view between the rules' form and the wire's.

`wire_view` reads no card that the player may not see: of the piles with hidden cards it reads only the
lengths and the reserve's top card. So the server passes it the position itself.
"""

from functools import lru_cache
from typing import Final

from saratoga_protocol import events
from saratoga_rules.cards import HIDDEN, SUITS, Card, parse_cards
from saratoga_rules.position import Position, View

MOST_CARDS: Final = 104
"""The most cards in a pile: those of two packs."""

_pile = lru_cache(maxsize=1 << 13)(parse_cards)
"""Parse a pile. The results are cached, because a move changes only two piles."""


def wire_view(position: Position) -> events.View:
    """Return the view of a position in the form of the wire."""
    stock, waste, reserve, up, down, columns, base, passes, face_down = position
    return events.View(
        stock=len(stock),
        waste="".join(waste),
        reserve=len(reserve),
        reserve_top=reserve[-1] if reserve else "",
        up=list(up),
        down=list(down),
        columns=list(map("".join, columns)),
        face_down=list(map(len, face_down)),
        base=base,
        passes=passes,
    )


def rules_view(view: events.View) -> View:
    """Return the view in the form of the rules. Raise `ValueError` if the message is no possible view."""
    _check(view)
    # The server has redacted the position; this only converts it.
    return View(
        Position(
            stock=(HIDDEN,) * view.stock,
            waste=_pile(view.waste),
            reserve=_reserve(view),
            up=tuple(view.up),
            down=tuple(view.down),
            columns=tuple(map(_pile, view.columns)),
            base=view.base,
            passes=view.passes,
            face_down=tuple((HIDDEN,) * count for count in view.face_down),
        )
    )


def _reserve(view: events.View) -> tuple[Card, ...]:
    if not view.reserve:
        return ()
    return (HIDDEN,) * (view.reserve - 1) + _pile(view.reserve_top)


def _check(view: events.View) -> None:
    """Raise `ValueError` if the view is impossible: the server may be another implementation."""
    if not (0 <= view.stock <= MOST_CARDS and 0 <= view.reserve <= MOST_CARDS):
        raise ValueError("A pile holds 0 to 104 cards.")
    if len(view.reserve_top) != (2 if view.reserve else 0):
        raise ValueError("The reserve shows its top card, and only that.")
    if not (1 <= view.base <= 13 and view.passes >= 1):
        raise ValueError("The base is a rank from 1 to 13, and passes count from 1.")
    if view.face_down:
        if len(view.face_down) != len(view.columns) or not any(view.face_down):
            raise ValueError("Every column has a number of face-down cards, or none has one.")
        if not all(0 <= count <= MOST_CARDS for count in view.face_down):
            raise ValueError("A pile holds 0 to 104 cards.")
        if any(
            count and not column for count, column in zip(view.face_down, view.columns, strict=True)
        ):
            raise ValueError("Face-down cards lie under face-up ones.")
    for heights in (view.up, view.down):
        if len(heights) % len(SUITS) or not all(0 <= height <= 13 for height in heights):
            raise ValueError(
                "Every suit has the same number of foundations, of 0 to 13 cards each."
            )
