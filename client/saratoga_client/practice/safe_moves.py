"""What may be banked without a thought, in practice: the key `a`.

A card is safe if it starts a foundation, or if no card that could be laid on it is still in play:
then no column can miss it. And where banking alone wins the game, everything is safe.
"""

from collections.abc import Iterator

from saratoga_client.input.move_text import carried
from saratoga_rules.cards import RANKS, SUITS, Card
from saratoga_rules.game import Game
from saratoga_rules.judge import is_won, legal_moves, play
from saratoga_rules.moves import DOWN, UP, Carry
from saratoga_rules.views import View
from saratoga_rules.vocabulary.foundations import wanted_down, wanted_up


def safe_move(game: Game, view: View) -> Carry | None:
    """The next card to be banked safely; `None` if there is none."""
    banking = list(banking_moves(game, view))
    for move in banking:
        if _starts_a_foundation(view, move) or _is_missed_by_none(game, view, move):
            return move
    return banking[0] if banking and _wins(game, view) else None


def banking_moves(game: Game, view: View) -> Iterator[Carry]:
    """Every legal move that banks a card."""
    for move in legal_moves(game, view):
        if isinstance(move, Carry) and move.target in (UP, DOWN):
            yield move


def _starts_a_foundation(view: View, move: Carry) -> bool:
    card = carried(view, move)[-1]
    if move.target == UP:
        return view.up[wanted_up(view.up, view.base)[card]] == 0
    return view.down[wanted_down(view.down)[card]] == 0


def _is_missed_by_none(game: Game, view: View, move: Carry) -> bool:
    onto = game.columns.build.onto[carried(view, move)[-1]]
    return all(_banked(view, card) == game.packs for card in onto)


def _banked(view: View, card: Card) -> int:
    """How many copies of a card lie on the foundations."""
    suit, rank = SUITS.index(card[1]), RANKS.index(card[0]) + 1
    up = _piles(view.up, suit)
    down = _piles(view.down, suit)
    risen = (rank - view.base) % len(RANKS) + 1
    return sum(height >= risen for height in up) + sum(height >= 14 - rank for height in down)


def _piles(heights: tuple[int, ...], suit: int) -> tuple[int, ...]:
    copies = len(heights) // len(SUITS)
    return heights[suit * copies : (suit + 1) * copies]


def _wins(game: Game, view: View) -> bool:
    """Whether banking one card after another, no other move, comes to the end of the game."""
    position = view
    while not is_won(game, position):
        move = next(banking_moves(game, position), None)
        if move is None:
            return False
        position = View(play(game, position, move))
    return True
