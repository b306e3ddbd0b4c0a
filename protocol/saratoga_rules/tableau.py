"""The tableau: the columns on which one builds, and what any one arrangement of them offers.

What goes on among the columns depends on nothing else. So the judge's answers about it are found
here, and those about every carry that an arrangement offers are remembered with it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from saratoga_rules.building import Build
from saratoga_rules.cards import Card
from saratoga_rules.moves import COLUMN_NAMES, Carry, carry
from saratoga_rules.packets import Packet
from saratoga_rules.piles import Pile
from saratoga_rules.refusals import Refusal
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
    """Every carry from column to column that may be played."""


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

    def refusal(self, columns: tuple[Column, ...], move: Carry) -> Refusal | None:
        """Why so many cards of a column may not be carried onto another; `None` where they may."""
        column, target, count = columns[move.origin], columns[move.destination], move.count
        if move.origin == move.destination:
            return Refusal.SAME_PILE
        if count == len(column) and not target:
            return Refusal.CHANGES_NOTHING
        if count not in self.packets(column):
            return Refusal.NOT_A_PACKET
        return self.refusal_of_card(target, Pile.COLUMN, column[-count])

    def refusal_of_card(self, column: Column, source: Pile, card: Card) -> Refusal | None:
        """Why a card, or a packet headed by it, may not be laid on a column; `None` where it may."""
        if column:
            return None if card in self.build.onto[column[-1]] else Refusal.DOES_NOT_BUILD
        return None if self.space.admits(source, card) else Refusal.NOT_INTO_A_SPACE

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
        proposed = self._proposals(columns, takers, spaces)
        return Offer(
            tops=tuple(tops),
            top_cards=frozenset([card for _, card in tops]),
            spaces=tuple(spaces),
            takers=takers,
            carries=tuple([move for move in proposed if self.refusal(columns, move) is None]),
        )

    def _proposals(
        self,
        columns: tuple[Column, ...],
        takers: Mapping[Card, tuple[str, ...]],
        spaces: list[str],
    ) -> list[Carry]:
        """Carries worth judging: none that may be played is missing, and hardly another is there."""
        admits, proposed = self.space.admits, []
        for name, column in zip(COLUMN_NAMES, columns, strict=False):
            for count, card in self.packets(column).items():
                if card in takers:
                    for target in takers[card]:
                        if target != name:
                            proposed.append(carry(name, target, count))  # noqa: PERF401 (measured)
                # a whole column into a space would change nothing
                if spaces and count < len(column) and admits(Pile.COLUMN, card):
                    proposed += [carry(name, space, count) for space in spaces]
        return proposed
