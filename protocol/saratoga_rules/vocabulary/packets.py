"""Rule words for packets: how many of a column's face-up cards may be lifted together.

Foundations always take one card at a time.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from saratoga_rules.cards import Card
from saratoga_rules.vocabulary.building import Build


@dataclass(frozen=True)
class Packet:
    """A rule for which cards at the end of a column are carried together."""

    words: str
    sizes: Callable[[tuple[Card, ...], Build], Collection[int]]
    """The numbers of cards that may be lifted together, for the face-up cards of a column,
    one at least."""

    def __str__(self) -> str:
        return self.words


def _one(_column: tuple[Card, ...], _build: Build) -> Collection[int]:
    return _ONE


def _all(column: tuple[Card, ...], _build: Build) -> Collection[int]:
    return (len(column),)


def _one_or_all(column: tuple[Card, ...], _build: Build) -> Collection[int]:
    return (1, len(column)) if len(column) > 1 else _ONE


def _up_to_the_run(column: tuple[Card, ...], build: Build) -> Collection[int]:
    return _RANGES[build.run(column)]


_ONE: Final = (1,)
_RANGES: Final = tuple(range(1, most + 1) for most in range(105))

ONE_CARD: Final = Packet("one card", _one)
WHOLE_PILE: Final = Packet("the whole pile, and only as a whole", _all)
TOP_CARD_OR_WHOLE_PILE: Final = Packet("the top card or the whole pile", _one_or_all)
ANY_RUN: Final = Packet("any run from the end of the pile, whole or part", _up_to_the_run)
