"""Masked cards: they replace cards that a player may not see, and raise an error when read.

Neither a response nor its timing may depend on hidden cards. Code that never reads a hidden card takes
the same steps whatever the card is.
"""

from typing import Any, NoReturn

from saratoga_rules.cards import Card
from saratoga_rules.position import Position


class HiddenCardRead(AssertionError):
    """An error: code has read a hidden card."""


class MaskedText(str):
    """The name of a hidden card: it can be moved between piles, but not compared, looked up, or read."""

    __slots__ = ()

    def _raise(self, *_: Any) -> NoReturn:
        raise HiddenCardRead("a hidden card was read")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _raise
    __hash__ = __getitem__ = __iter__ = __contains__ = _raise
    __str__ = __repr__ = __format__ = __len__ = __add__ = _raise


def masked(position: Position) -> Position:
    """Return the position with every card masked that its player has not seen.

    The stock is hidden in the first pass only; after it the player has turned up every card of the stock.
    Face-down cards are always hidden.
    """
    stock = _mask(position.stock) if position.passes == 1 else position.stock
    reserve = _mask(position.reserve[:-1]) + position.reserve[-1:]
    return with_masked_columns(position._replace(stock=stock, reserve=reserve))


def with_masked_columns(position: Position) -> Position:
    """Return the position with only the face-down cards of the columns masked."""
    return position._replace(face_down=tuple(map(_mask, position.face_down)))


def unmasked(position: Position) -> Position:
    """Return the position without masks."""
    return position._replace(
        stock=_unmask(position.stock),
        waste=_unmask(position.waste),
        reserve=_unmask(position.reserve),
        columns=tuple(map(_unmask, position.columns)),
        face_down=tuple(map(_unmask, position.face_down)),
    )


def _mask(pile: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(Card(MaskedText(card)) for card in pile)


def _unmask(pile: tuple[Card, ...]) -> tuple[Card, ...]:
    return tuple(Card(str.__str__(card)) for card in pile)
