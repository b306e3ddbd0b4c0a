"""Rule words for the tableau: what a game says of its columns."""

from dataclasses import dataclass

from saratoga_rules.vocabulary.building import Build
from saratoga_rules.vocabulary.packets import Packet
from saratoga_rules.vocabulary.spaces import Space


@dataclass(frozen=True, kw_only=True)
class Columns:
    """The rules of the columns: their number, building, packets and spaces."""

    count: int
    build: Build
    packet: Packet
    space: Space
