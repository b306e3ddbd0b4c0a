"""Typed words taken for a move."""

from saratoga_rules.game import Game
from saratoga_rules.judge import refusal
from saratoga_rules.moves import Move, parse_move
from saratoga_rules.views import View


def understood(game: Game, view: View, words: str) -> Move | str:
    """The move that was typed; or the line that says why not, empty where it is no move at all."""
    try:
        move = parse_move(words)
    except ValueError:
        return ""
    refused = refusal(game, view, move)
    return move if refused is None else f"no: {refused}"
