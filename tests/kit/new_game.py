"""The server with one more game, `python -m kit.new_game`, and a short countdown (`altered_server`)."""

import sys
from dataclasses import replace
from types import MappingProxyType, ModuleType
from typing import Final

UNKNOWN_GAME: Final = "moonlight"
"""A game that only this server knows; its facts are those of no other."""
TITLE: Final = "By the Light of the Moon"


def add_game() -> None:
    """Add a game to those that the rules know: Canfield with another name, price, stock and deal."""
    import saratoga_rules.games as games
    from saratoga_rules.vocabulary.deal_steps import BaseCard, ToColumns, ToReserve
    from saratoga_rules.vocabulary.stocks import turned

    added = replace(
        games.GAMES["canfield"],
        name=UNKNOWN_GAME,
        title=TITLE,
        pack_price=48,
        deal=(BaseCard(), ToColumns(2), ToReserve(9)),
        stock=turned(2, passes=4),
    )
    words = ModuleType(f"{games.__name__}.{UNKNOWN_GAME}", "A game for the moon.")
    sys.modules[words.__name__] = words
    games.GAMES = MappingProxyType({**games.GAMES, UNKNOWN_GAME: added})  # type: ignore[misc]
    games.RULES = MappingProxyType(  # type: ignore[misc]
        {**games.RULES, games.RULES_VERSION: games.GAMES}
    )


def main() -> None:
    add_game()
    from kit.altered_server import shorten_countdown

    shorten_countdown()
    from saratoga_server.__main__ import main as serve

    sys.argv[0] = "saratoga-server"
    serve()


if __name__ == "__main__":
    main()
