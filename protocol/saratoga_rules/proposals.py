"""Moves worth asking the judge about: no legal move is missing, and hardly another is there.

What the cards of the columns may do is not among them: `Columns.offer` has found that already.
"""

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.foundations import rank_at
from saratoga_rules.game import Game
from saratoga_rules.moves import DRAW, REDEAL, RESERVE, WASTE, Move, carry
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.tableau import Offer


def proposals(game: Game, position: Position, offer: Offer) -> list[Move]:
    """Every other move that the judge may allow in a position, each once."""
    stock, waste, reserve, up, _, _, base, _ = position
    proposed: list[Move] = []
    if stock:
        proposed.append(DRAW)
    elif waste:
        proposed.append(REDEAL)
    if waste:
        proposed += _carries(game, offer, WASTE, Pile.WASTE, waste[-1])
    if reserve:
        proposed += _carries(game, offer, RESERVE, Pile.RESERVE, reserve[-1])
    if game.up.gives_back:
        for letter, height in zip(SUITS, up, strict=True):
            if height > 1:
                card = card_of(rank_at(base, height), letter)
                proposed += _carries(game, offer, f"up.{letter}", Pile.FOUNDATION, card)
    return proposed


def _carries(game: Game, offer: Offer, source: str, pile: Pile, card: Card) -> list[Move]:
    targets = offer.takers.get(card, ())
    if offer.spaces and game.columns.space.admits(pile, card):
        targets += offer.spaces
    return [carry(source, target) for target in targets] if targets else []
