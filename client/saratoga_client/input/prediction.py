"""What a move comes to, where its player can know that before the house has answered."""

from saratoga_rules.cards import HIDDEN
from saratoga_rules.game import Game
from saratoga_rules.judge import play
from saratoga_rules.moves import Move
from saratoga_rules.views import View, redact


def predicted_view(game: Game, view: View, move: Move) -> View | None:
    """The view after a move; `None` where it would turn up a hidden card.

    Raise `IllegalMove`, as `play` does, where the move may not be played.
    """
    after = play(game, view, move)
    # the engine moves hidden cards like any others: one that lies in the open was turned up
    if HIDDEN in after.waste[-game.stock.draw :] or HIDDEN in after.reserve[-1:]:
        return None
    if any(HIDDEN in column[-1:] for column in after.columns):
        return None
    return redact(after)
