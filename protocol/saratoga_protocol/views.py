"""Convert a player's view between the rules' form and the wire's.

`wire_view` reads no card that the player may not see: of the piles with hidden cards it reads only
the lengths and the reserve's top card. So the server passes it the position itself.
"""

from functools import lru_cache
from typing import Final

from saratoga_protocol import events
from saratoga_rules.cards import HIDDEN, RANKS, SUITS, parse_cards
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
    """Return the view in the form of the rules. Raises `ValueError` for an impossible view."""
    _check(view)
    # The server has redacted the position; this only converts it.
    return View(
        Position(
            stock=(HIDDEN,) * view.stock,
            waste=_pile(view.waste),
            reserve=(HIDDEN,) * (view.reserve - 1) + _pile(view.reserve_top),
            up=tuple(view.up),
            down=tuple(view.down),
            columns=tuple(map(_pile, view.columns)),
            base=view.base,
            passes=view.passes,
            face_down=tuple((HIDDEN,) * count for count in view.face_down),
        )
    )


def _check(view: events.View) -> None:
    """Raise `ValueError` if the view is impossible: the server may be another implementation."""
    hidden = view.face_down or [0] * len(view.columns)
    is_possible = (
        all(0 <= cards <= MOST_CARDS for cards in (view.stock, view.reserve, *hidden))
        and all(0 <= height <= len(RANKS) for height in (*view.up, *view.down))
        and len(view.up) % len(SUITS) == len(view.down) % len(SUITS) == 0
        and len(view.reserve_top) == (2 if view.reserve else 0)
        and 1 <= view.base <= len(RANKS)
        and view.passes >= 1
        and len(hidden) == len(view.columns)
        and all(column for cards, column in zip(hidden, view.columns, strict=True) if cards)
        and (any(hidden) or not view.face_down)
    )
    if not is_possible:
        raise ValueError("This view is impossible.")
