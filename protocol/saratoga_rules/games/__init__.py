"""The list of games that can be raced; each game has a module of its own."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from saratoga_rules.game import Game
from saratoga_rules.games.canfield import CANFIELD
from saratoga_rules.games.canfield_aisleriot import CANFIELD_AISLERIOT
from saratoga_rules.games.caprice import CAPRICE
from saratoga_rules.games.klondike import KLONDIKE
from saratoga_rules.games.lady_palk import LADY_PALK
from saratoga_rules.games.lafayette import LAFAYETTE

RULES_VERSION: Final = 1
"""The version of the rules. Raised when a rule or a deal changes; records name their version."""

GAMES: Final[Mapping[str, Game]] = MappingProxyType(
    {
        game.name: game
        for game in (KLONDIKE, CANFIELD, CANFIELD_AISLERIOT, LAFAYETTE, LADY_PALK, CAPRICE)
    }
)
"""Every game by its name, in the order in which players are offered them: the best known first."""

RULES: Final[Mapping[int, Mapping[str, Game]]] = MappingProxyType({RULES_VERSION: GAMES})
"""The games of every version of the rules whose records this release checks.

A change of a rule, of a deal, or of how a deal follows from its key makes a new version.
"""


def prose(game: Game) -> tuple[str, ...]:
    """Return the description of a game, the docstring of its module, by paragraph."""
    text = import_module(f"saratoga_rules.games.{game.name.replace('-', '_')}").__doc__ or ""
    return tuple(
        " ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()
    )
