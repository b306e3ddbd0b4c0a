"""The description of a game in prose: the docstring of the game's module."""

from importlib import import_module

from saratoga_rules.game import Game


def prose(game: Game) -> tuple[str, ...]:
    """Return the description of the game, by paragraph."""
    text = import_module(f"saratoga_rules.games.{game.name.replace('-', '_')}").__doc__ or ""
    return tuple(
        " ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()
    )
