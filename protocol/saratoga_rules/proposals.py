"""Candidate moves for the judge: every legal move is among them, and few others.

Carries from column to column are left out: `Columns.offer` has judged them already.
"""

from operator import attrgetter
from typing import Final

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.game import Game
from saratoga_rules.moves import DRAW, REDEAL, RESERVE, WASTE, Carry, Move, carry
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.vocabulary.foundations import rank_at
from saratoga_rules.vocabulary.tableau import Offer


def proposals(game: Game, position: Position, offer: Offer) -> list[Move]:
    """Return every candidate move of a position except carries between columns, each once."""
    stock, waste, reserve, up, _, _, base, _, _ = position
    proposed: list[Move] = []
    if stock:
        proposed.append(DRAW)
    elif waste:
        proposed.append(REDEAL)
    beside = _carries(game, offer, WASTE, Pile.WASTE, waste[-1]) if waste else []
    if reserve:
        beside += _carries(game, offer, RESERVE, Pile.RESERVE, reserve[-1])
    banks = [*offer.banks]
    for move in beside:
        (proposed if move.destination >= 0 else banks).append(move)
    if banks:
        proposed += sorted(banks, key=_target, reverse=True)
    if game.up.gives_back:
        for letter, height in zip(SUITS, up, strict=True):
            if height > 1:
                card = card_of(rank_at(base, height), letter)
                proposed += _carries(game, offer, f"up.{letter}", Pile.FOUNDATION, card)
    return proposed


_target: Final = attrgetter("target")
"""Sort key: in reverse order, moves to `up` come before moves to `down`."""


def _carries(game: Game, offer: Offer, source: str, pile: Pile, card: Card) -> list[Carry]:
    targets = offer.takers.get(card, ())
    if offer.spaces and game.columns.space.admits(pile, card):
        targets += offer.spaces
    return [carry(source, target) for target in targets] if targets else []
