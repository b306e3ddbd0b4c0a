"""The strengths of bots, weakest first, and the chooser of each."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from saratoga_client.bots.choice import Chooser
from saratoga_client.bots.even import choose_evenly
from saratoga_client.bots.strong import choose_strongly
from saratoga_client.bots.weak import choose_weakly


class Strength(StrEnum):
    """A bot's strength."""

    WEAK = "weak"
    EVEN = "even"
    STRONG = "strong"


CHOOSERS: Final[Mapping[Strength, Chooser]] = MappingProxyType(
    {
        Strength.WEAK: choose_weakly,
        Strength.EVEN: choose_evenly,
        Strength.STRONG: choose_strongly,
    }
)
"""The function that chooses the moves of each strength."""
