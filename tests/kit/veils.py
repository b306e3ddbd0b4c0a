"""Cards that must not be looked at: whoever asks a veiled card what it is, fails.

Not only what is said must not depend on hidden cards, but how long it takes to say it. What never
looks at them takes the same steps whatever they are.
"""

from typing import Any, NoReturn

from saratoga_rules.cards import Card
from saratoga_rules.position import Position


class Looked(AssertionError):
    """Somebody looked at a hidden card."""


class Veiled(str):
    """A card that may be carried from pile to pile, but not compared, looked up, or read."""

    __slots__ = ()

    def _looked(self, *_: Any) -> NoReturn:
        raise Looked("a hidden card was looked at")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _looked
    __hash__ = __getitem__ = __iter__ = __contains__ = _looked
    __str__ = __repr__ = __format__ = __len__ = __add__ = _looked


def veiled(position: Position) -> Position:
    """The same position; whatever its player has not seen is veiled.

    The stock is hidden in the first pass; after that its player has turned up every card of it.
    """
    stock = _veil(position.stock) if position.passes == 1 else position.stock
    reserve = _veil(position.reserve[:-1]) + position.reserve[-1:]
    return position._replace(stock=stock, reserve=reserve)


def unveiled(position: Position) -> Position:
    """With every veil taken off."""
    return position._replace(
        stock=_unveil(position.stock),
        waste=_unveil(position.waste),
        reserve=_unveil(position.reserve),
        columns=tuple(map(_unveil, position.columns)),
    )


def _veil(pile: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(Card(Veiled(card)) for card in pile)


def _unveil(pile: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(Card(str.__str__(card)) for card in pile)
