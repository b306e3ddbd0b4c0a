"""The tableau: the columns, and the legal moves between and from them.

Moves between columns depend on the columns alone. Moves from columns to foundations also depend on the
foundations' heights. Draws change neither in most games. So these moves are computed once for each
arrangement of columns and foundations, and cached.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from saratoga_rules.cards import Card
from saratoga_rules.moves import COLUMN_NAMES, DOWN, UP, Carry, carry
from saratoga_rules.piles import Pile
from saratoga_rules.refusals import Refusal
from saratoga_rules.vocabulary.building import Build
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up
from saratoga_rules.vocabulary.packets import Packet
from saratoga_rules.vocabulary.spaces import Space

Column: TypeAlias = tuple[Card, ...]
Heights: TypeAlias = tuple[int, ...]
FaceDownCounts: TypeAlias = tuple[int, ...]

MOST_REMEMBERED: Final = 1 << 11
"""The size of each cache: two entries for every racer at 256 tables of four. The cache of one game
takes 1.5 MiB (`canfield`) to 4.5 MiB (`caprice`)."""

_ALONE: Final = {name: (name,) for name in (*COLUMN_NAMES, UP, DOWN)}


@lru_cache(maxsize=1 << 10)
def _with(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return the names and one more. Cached, because the same few tuples recur in every offer."""
    return (*names, name)


class Offer(NamedTuple):
    """The moves that do not depend on stock, waste or reserve."""

    carries: tuple[Carry, ...]
    """Every carry from column to column that may be played."""
    banks: tuple[Carry, ...]
    """Every carry from a column to a foundation that takes the card."""
    takers: Mapping[Card, tuple[str, ...]]
    """For every card that fits on some top card or foundation, the names of those piles."""
    spaces: tuple[str, ...]
    """The names of the columns without cards."""


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The rules of the columns: their number, building, packets and spaces."""

    count: int
    build: Build
    packet: Packet
    space: Space

    offer: Callable[[tuple[Column, ...], FaceDownCounts, Heights, Heights, int], Offer] = field(
        init=False, repr=False, compare=False
    )
    """A function that returns the offer for columns, their numbers of face-down cards (empty if there
    are none) and foundations (up, down, base); cached."""
    packets: Callable[[Column], Mapping[int, Card]] = field(init=False, repr=False, compare=False)
    """A function that returns the first card of every packet in a column, by size; cached."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "offer", lru_cache(maxsize=MOST_REMEMBERED)(self._offer))
        object.__setattr__(self, "packets", lru_cache(maxsize=MOST_REMEMBERED)(self._packets))

    def refusal(self, columns: tuple[Column, ...], below: int, move: Carry) -> Refusal | None:
        """Return why a packet may not be carried from column to column; `None` if it may.

        `below` is the number of face-down cards in the column that the packet comes from.
        """
        column, target, count = columns[move.origin], columns[move.destination], move.count
        if move.origin == move.destination:
            return Refusal.SAME_PILE
        if count == len(column) and not below and not target:
            return Refusal.CHANGES_NOTHING
        if count not in self.packets(column):
            return Refusal.NOT_A_PACKET
        return self.refusal_of_card(target, Pile.COLUMN, column[-count])

    def refusal_of_card(self, column: Column, source: Pile, card: Card) -> Refusal | None:
        """Return why a card, or a packet headed by it, may not be laid on a column; `None` if it may."""
        if column:
            return None if card in self.build.onto[column[-1]] else Refusal.DOES_NOT_BUILD
        return None if self.space.admits(source, card) else Refusal.NOT_INTO_A_SPACE

    def _packets(self, column: Column) -> Mapping[int, Card]:
        sizes = self.packet.sizes(column, self.build) if column else ()
        return {count: column[-count] for count in sizes}

    def _offer(
        self,
        columns: tuple[Column, ...],
        face_down: FaceDownCounts,
        up: Heights,
        down: Heights,
        base: int,
    ) -> Offer:
        onto, banked_up, banked_down = self.build.onto, wanted_up(up, base), wanted_down(down)
        spaces: list[str] = []
        banks: list[Carry] = []
        takers: dict[Card, tuple[str, ...]] = {}
        for name, column in zip(COLUMN_NAMES, columns, strict=False):
            if not column:
                spaces.append(name)
                continue
            top = column[-1]
            for card in onto[top]:
                takers[card] = _with(takers[card], name) if card in takers else _ALONE[name]
            if top in banked_up:
                banks.append(carry(name, UP))
            if top in banked_down:
                banks.append(carry(name, DOWN))
        face_down = face_down or (0,) * len(columns)
        proposed = self._proposals(columns, face_down, takers, spaces)
        carries = [
            move for move in proposed if self.refusal(columns, face_down[move.origin], move) is None
        ]
        for card in banked_up:
            takers[card] = _with(takers[card], UP) if card in takers else _ALONE[UP]
        for card in banked_down:
            takers[card] = _with(takers[card], DOWN) if card in takers else _ALONE[DOWN]
        return Offer(tuple(carries), tuple(banks), takers, tuple(spaces))

    def _proposals(
        self,
        columns: tuple[Column, ...],
        face_down: FaceDownCounts,
        takers: Mapping[Card, tuple[str, ...]],
        spaces: list[str],
    ) -> list[Carry]:
        """Return candidate carries between columns: every legal one, and few others."""
        admits, proposed = self.space.admits, []
        for name, column, below in zip(COLUMN_NAMES, columns, face_down, strict=False):
            for count, card in self.packets(column).items():
                if card in takers:
                    for target in takers[card]:
                        if target != name:
                            proposed.append(carry(name, target, count))  # noqa: PERF401 (measured)
                # a whole column into a space would change nothing
                if spaces and (below or count < len(column)) and admits(Pile.COLUMN, card):
                    proposed += [carry(name, space, count) for space in spaces]
        return proposed
