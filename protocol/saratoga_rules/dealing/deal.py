"""The deal: from a shuffled deck, or a key that shuffles one, to the opening position."""

import hashlib
from typing import Final

from saratoga_rules.cards import Card
from saratoga_rules.dealing.shuffle import shuffled_deck
from saratoga_rules.game import Game
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.deal_steps import DealBuilder

_PRACTICE_TAG: Final = b"saratoga practice 1"


def deal(game: Game, deck: tuple[Card, ...]) -> Position:
    """Return the opening position made by dealing a shuffled deck, first card first.

    Raise `ValueError` if the deck has not as many cards as the game.
    """
    if len(deck) != game.cards:
        raise ValueError(f"{game.title} is played with {game.cards} cards, not with {len(deck)}.")
    layout = DealBuilder(
        deck=list(deck),
        columns=[[] for _ in range(game.columns.count)],
        up=[0] * game.up.piles,
        down=[0] * (game.down.piles if game.down else 0),
    )
    for step in game.deal:
        step(layout)
    return layout.position()


def deal_for_key(game: Game, key: bytes) -> Position:
    """Return the opening position for a deal key, the same for everyone in a race."""
    return deal(game, shuffled_deck(game.packs, key))


def practice_key(seed: str) -> bytes:
    """Return the deal key of a practice game, made from a seed that players may share.

    SHA-256 of `saratoga practice 1` and the seed in UTF-8: never the key of a race.
    """
    return hashlib.sha256(_PRACTICE_TAG + seed.encode()).digest()
