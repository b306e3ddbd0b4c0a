"""Typed words taken for a move, or the line that says why they are none."""

from saratoga_client.input.typed_moves import NotPlayed, typed_move
from saratoga_client.plain.card_names import Tongue
from saratoga_client.plain.grammar import Where, not_understood, read_order
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.views import View


def understood(game: Game, view: View, words: str, where: Where, tongue: Tongue) -> Move | str:
    """The legal move that was typed; otherwise what to say: what is wrong, and what to do."""
    typed = typed_move(game, view, words, tongue.card)
    if not isinstance(typed, NotPlayed):
        return typed
    is_move = typed.is_move or read_order(words, where).is_move_order
    return f"no: {typed.says}" if is_move else not_understood(words, where)
