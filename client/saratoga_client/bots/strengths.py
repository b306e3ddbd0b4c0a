"""The strengths of bots, and the chooser of each."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from saratoga_client.bots.choice import Chooser
from saratoga_client.bots.strong import choose_strongly
from saratoga_client.bots.weak import choose_weakly


class Strength(StrEnum):
    """A bot's strength."""

    WEAK = "weak"
    STRONG = "strong"


CHOOSERS: Final[Mapping[Strength, Chooser]] = MappingProxyType(
    {Strength.WEAK: choose_weakly, Strength.STRONG: choose_strongly}
)
