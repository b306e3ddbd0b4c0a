"""The games that can be raced, listed by hand; each stands on a page of its own."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from saratoga_rules.game import Game
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE

RULES_VERSION: Final = 1
"""Grows when a rule or a deal changes; records name it, so that old ones still replay."""

GAMES: Final[Mapping[str, Game]] = MappingProxyType(
    {game.name: game for game in (CANFIELD, CANFIELD_AISLERIOT, LAFAYETTE, LADY_PALK, CAPRICE)}
)
"""Every game by its name."""

RULES: Final[Mapping[int, Mapping[str, Game]]] = MappingProxyType({RULES_VERSION: GAMES})
"""The games by the version of the rules: whatever was ever raced can be replayed and verified for ever.

A change of a rule, of a deal, or of how a deal follows from its key makes a new version: the games as they
were stay here under their number, and nothing is ever taken out (`tests/rules/records/rules-1`).
"""
