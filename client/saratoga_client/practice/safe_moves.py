"""Cards that are safe to bank, for the key `a` in practice.

A card is safe if it starts a foundation, or if no card that could be laid on it is still in play.
If banking alone wins the game, every card is safe.
"""

from collections.abc import Iterable

from saratoga_client.input.move_text import carried
from saratoga_rules.analysis import legal_moves
from saratoga_rules.cards import RANKS, SUITS, Card
from saratoga_rules.game import Game
from saratoga_rules.moves import DOWN, UP, Carry, Move
from saratoga_rules.play import is_won, play
from saratoga_rules.position import View
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up


def safe_move(game: Game, view: View, legal: Iterable[Move] | None = None) -> Carry | None:
    """Return the next card to bank safely; `None` if there is none.

    `legal` are the view's legal moves, if the caller has them already.
    """
    banking = banking_moves(legal_moves(game, view) if legal is None else legal)
    for move in banking:
        if _starts_a_foundation(view, move) or _has_no_use(game, view, move):
            return move
    return banking[0] if banking and _wins(game, view) else None


def banking_moves(legal: Iterable[Move]) -> list[Carry]:
    """Return the moves that bank a card."""
    return [move for move in legal if isinstance(move, Carry) and move.target in (UP, DOWN)]


def _starts_a_foundation(view: View, move: Carry) -> bool:
    card = carried(view, move)[-1]
    if move.target == UP:
        return view.up[wanted_up(view.up, view.base)[card]] == 0
    return view.down[wanted_down(view.down)[card]] == 0


def _has_no_use(game: Game, view: View, move: Carry) -> bool:
    """Return whether every card that could be laid on this one is banked."""
    onto = game.columns.build.onto[carried(view, move)[-1]]
    return all(_banked(view, card) == game.packs for card in onto)


def _banked(view: View, card: Card) -> int:
    """Return how many copies of a card lie on the foundations."""
    suit, rank = SUITS.index(card[1]), RANKS.index(card[0]) + 1
    up = _piles(view.up, suit)
    down = _piles(view.down, suit)
    risen = (rank - view.base) % len(RANKS) + 1
    return sum(height >= risen for height in up) + sum(height >= 14 - rank for height in down)


def _piles(heights: tuple[int, ...], suit: int) -> tuple[int, ...]:
    copies = len(heights) // len(SUITS)
    return heights[suit * copies : (suit + 1) * copies]


def _wins(game: Game, view: View) -> bool:
    """Return whether banking cards, without any other move, wins the game."""
    position = view
    while not is_won(game, position):
        banking = banking_moves(legal_moves(game, position))
        if not banking:
            return False
        position = View(play(game, position, banking[0]))
    return True
