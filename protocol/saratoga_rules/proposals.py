"""Moves worth asking the judge about: no legal move is missing, and hardly another is there.

Carries from column to column are not among them: `Columns.offer` has judged them already.
"""

from saratoga_rules.cards import SUITS, Card, card_of
from saratoga_rules.foundations import rank_at, wanted_down, wanted_up
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, DRAW, REDEAL, RESERVE, UP, WASTE, Move, carry
from saratoga_rules.piles import Pile
from saratoga_rules.position import Position
from saratoga_rules.tableau import Offer


def proposals(game: Game, position: Position) -> list[Move]:
    """Every other move that the judge may allow in a position, each once."""
    stock, waste, reserve, up, down, columns, base, _ = position
    offer = game.columns.offer(columns)
    proposed: list[Move] = []
    if stock:
        proposed.append(DRAW)
    elif waste:
        proposed.append(REDEAL)
    singles: list[tuple[str, Card]] = [*offer.tops]
    if waste:
        singles.append((WASTE, waste[-1]))
        proposed += _to_columns(game, offer, WASTE, Pile.WASTE, waste[-1])
    if reserve:
        singles.append((RESERVE, reserve[-1]))
        proposed += _to_columns(game, offer, RESERVE, Pile.RESERVE, reserve[-1])
    wanted = wanted_up(up, base)
    proposed += [carry(source, UP) for source, card in singles if card in wanted]
    if down:
        wanted = wanted_down(down)
        proposed += [carry(source, DOWN) for source, card in singles if card in wanted]
    if game.up.gives_back:
        for letter, height in zip(SUITS, up, strict=True):
            if height > 1:
                card = card_of(rank_at(base, height), letter)
                proposed += _to_columns(game, offer, f"up.{letter}", Pile.FOUNDATION, card)
    return proposed


def _to_columns(game: Game, offer: Offer, source: str, pile: Pile, card: Card) -> list[Move]:
    targets = offer.takers.get(card, ())
    if offer.spaces and game.columns.space.admits(pile, card):
        targets += offer.spaces
    return [carry(source, target) for target in targets] if targets else []
