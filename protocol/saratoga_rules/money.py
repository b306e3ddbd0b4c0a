"""Casino money: every card on the foundations pays $5; each game has its price for a pack."""

from typing import Final

from saratoga_rules.game import Game

CARD_PRIZE: Final = 5
"""Dollars for each banked card, those dealt to the foundations included."""


def price(game: Game) -> int:
    """Return the dollars for all packs of a game."""
    return game.pack_price * game.packs


def net(game: Game, banked: int) -> int:
    """Return the casino dollars for this many banked cards; a negative number is a loss."""
    return CARD_PRIZE * banked - price(game)


def even_at(game: Game) -> int:
    """Return the least number of banked cards that is no loss."""
    return -(-price(game) // CARD_PRIZE)
