"""The rules of a game in words, from the page that the judge reads: prose, and a table. Pure."""

from collections.abc import Iterator
from importlib import import_module

from saratoga_rules.game import Game
from saratoga_rules.money import CARD_PRIZE, PACK_PRICE


def plain_lines(game: Game) -> Iterator[str]:
    """The rules for pipes and ears: one a line."""
    yield f"game: {game.title}"
    for paragraph in prose(game):
        yield f"about: {paragraph}"
    for heading, rule in table(game):
        yield f"{heading}: {rule}"


def prose(game: Game) -> tuple[str, ...]:
    """What stands at the head of the game's own page, a paragraph each."""
    told = import_module(f"saratoga_rules.games.{game.name.replace('-', '_')}").__doc__ or ""
    return tuple(
        " ".join(paragraph.split()) for paragraph in told.split("\n\n") if paragraph.strip()
    )


def table(game: Game) -> tuple[tuple[str, str], ...]:
    """Every rule with its heading, and what a race pays."""
    price = game.packs * PACK_PRICE
    even = price // CARD_PRIZE
    return (
        *game.describe(),
        ("money", f"${price} for the cards, ${CARD_PRIZE} back for each banked; even at {even}"),
        ("a race", "most money, then who reached it first; undo only in practice"),
    )
