"""Casino money: a pack costs $50, and every card on the foundations pays $5."""

from typing import Final

from saratoga_rules.game import Game

PACK_PRICE: Final = 50
"""Dollars for a pack. At ten banked cards a pack the player breaks even, as in AisleRiot's help."""

CARD_PRIZE: Final = 5
"""Dollars for each banked card, those dealt to the foundations included."""


def net(game: Game, banked: int) -> int:
    """Return the casino dollars for this many banked cards; a negative number is a loss."""
    return CARD_PRIZE * banked - PACK_PRICE * game.packs
