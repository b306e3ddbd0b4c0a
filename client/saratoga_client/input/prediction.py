"""Prediction of the view after a move, for moves that turn up no hidden card."""

from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.play import play
from saratoga_rules.position import View, redact


def predicted_view(game: Game, view: View, move: Move) -> View | None:
    """Return the view after a move; `None` if the move turns up a hidden card.

    Raise `IllegalMove` if the move is illegal.
    """
    after = play(game, view, move)
    # A hidden card among face-up cards means that the move turns a card up.
    if HIDDEN in after.waste[-game.stock.draw :] or HIDDEN in after.reserve[-1:]:
        return None
    if any(HIDDEN in column[-1:] for column in after.columns):
        return None
    return redact(after)
