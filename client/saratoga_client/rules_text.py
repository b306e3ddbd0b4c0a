"""The rules of a game as text, from its definition: prose and a table. Pure."""

from collections.abc import Iterator
from importlib import import_module

from saratoga_rules.game import Game
from saratoga_rules.money import CARD_PRIZE, PACK_PRICE


def plain_lines(game: Game) -> Iterator[str]:
    """Return the rules one per line, for pipes and screen readers."""
    yield f"game: {game.title}"
    for paragraph in prose(game):
        yield f"about: {paragraph}"
    for heading, rule in table(game):
        yield f"{heading}: {rule}"


def prose(game: Game) -> tuple[str, ...]:
    """Return the description of the game, by paragraph."""
    text = import_module(f"saratoga_rules.games.{game.name.replace('-', '_')}").__doc__ or ""
    return tuple(
        " ".join(paragraph.split()) for paragraph in text.split("\n\n") if paragraph.strip()
    )


def table(game: Game) -> tuple[tuple[str, str], ...]:
    """Return each rule with its heading, and the money of a race."""
    price = game.packs * PACK_PRICE
    even = price // CARD_PRIZE
    return (
        *game.describe(),
        ("money", f"${price} for the cards, ${CARD_PRIZE} back for each banked; even at {even}"),
        ("a race", "most money wins, then the earlier time; undo only in practice"),
    )
