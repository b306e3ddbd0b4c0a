"""The tableau: the columns on which one builds, and what any one arrangement of them offers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from saratoga_rules.building import Build
from saratoga_rules.cards import Card
from saratoga_rules.moves import COLUMN_NAMES, Carry, carry
from saratoga_rules.packets import Packet
from saratoga_rules.piles import Pile
from saratoga_rules.spaces import Space

Column: TypeAlias = tuple[Card, ...]


class Offer(NamedTuple):
    """What an arrangement of the columns offers, whatever lies elsewhere."""

    tops: tuple[tuple[str, Card], ...]
    """The name and the top card of every column that has one."""
    top_cards: frozenset[Card]
    """The same top cards without the names."""
    spaces: tuple[str, ...]
    """The names of the columns that have none."""
    takers: Mapping[Card, tuple[str, ...]]
    """For every card that may be laid on some top card, the names of those columns."""
    carries: tuple[Carry, ...]
    """Every carry from column to column, those refused by the judge left out."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """How many columns there are, how they grow, what moves among them, what fills a space."""

    count: int
    build: Build
    packet: Packet
    space: Space

    offer: Callable[[tuple[Column, ...]], Offer] = field(init=False, repr=False, compare=False)
    """What an arrangement offers; remembered, since most moves leave the columns as they are."""
    packets: Callable[[Column], Mapping[int, Card]] = field(init=False, repr=False, compare=False)
    """The first card of every packet that a column gives, by the packet's size; remembered."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "offer", lru_cache(maxsize=1 << 12)(self._offer))
        object.__setattr__(self, "packets", lru_cache(maxsize=1 << 12)(self._packets))

    def _packets(self, column: Column) -> Mapping[int, Card]:
        sizes = self.packet.sizes(column, self.build) if column else ()
        return {count: column[-count] for count in sizes}

    def _offer(self, columns: tuple[Column, ...]) -> Offer:
        onto = self.build.onto
        tops: list[tuple[str, Card]] = []
        spaces: list[str] = []
        takers: dict[Card, tuple[str, ...]] = {}
        for name, column in zip(COLUMN_NAMES, columns, strict=False):
            if column:
                tops.append((name, column[-1]))
                for card in onto[column[-1]]:
                    takers[card] = (*takers[card], name) if card in takers else (name,)
            else:
                spaces.append(name)
        carries = self._carries(columns, takers, spaces)
        top_cards = frozenset([card for _, card in tops])
        return Offer(tuple(tops), top_cards, tuple(spaces), takers, tuple(carries))

    def _carries(
        self,
        columns: tuple[Column, ...],
        takers: Mapping[Card, tuple[str, ...]],
        spaces: list[str],
    ) -> list[Carry]:
        admits, carries = self.space.admits, []
        for name, column in zip(COLUMN_NAMES, columns, strict=False):
            for count, card in self.packets(column).items():
                if card in takers:
                    for target in takers[card]:
                        if target != name:
                            carries.append(carry(name, target, count))  # noqa: PERF401 (measured)
                # a whole column into a space would change nothing
                if spaces and count < len(column) and admits(Pile.COLUMN, card):
                    carries += [carry(name, space, count) for space in spaces]
        return carries
