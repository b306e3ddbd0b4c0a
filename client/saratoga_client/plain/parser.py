"""Parse typed text as a move."""

from saratoga_client.input.typed_moves import NotPlayed, typed_move
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.grammar import Context, not_understood, parse_line
from saratoga_rules.game import Game
from saratoga_rules.moves import Move
from saratoga_rules.views import View


def parse_typed_move(
    game: Game, view: View, words: str, context: Context, card_names: CardNames
) -> Move | str:
    """Return the typed legal move, or the `no:` line with the reason why there is none."""
    typed = typed_move(game, view, words, card_names.card)
    if not isinstance(typed, NotPlayed):
        return typed
    is_move = typed.is_move or parse_line(words, context).is_move_command
    return f"no: {typed.says}" if is_move else not_understood(words, context)
