"""Casino money: a pack costs $50, and every card on the foundations pays $5."""

from typing import Final

from saratoga_rules.game import Game

PACK_PRICE: Final = 50
"""Dollars; at ten cards a pack the player breaks even, as in AisleRiot's account of the game."""

CARD_PRIZE: Final = 5
"""Dollars for each banked card, those dealt to the foundations included."""


def net(game: Game, banked: int) -> int:
    """Casino dollars with so many cards on the foundations; below zero it is a loss."""
    return CARD_PRIZE * banked - PACK_PRICE * game.packs
