"""Answers to questions about a board, in a race and in practice. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from saratoga_client.input.card_query import cards_matching
from saratoga_client.input.typed_moves import NotPlayed, typed_move
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.card_search import where_lines
from saratoga_client.plain.grammar import Context, not_understood, parse_line
from saratoga_client.plain.move_lines import move_words
from saratoga_client.plain.position import board_line, position_lines, rule_line
from saratoga_client.rules_text import plain_lines
from saratoga_rules.analysis import legal_moves
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.moves import Move
from saratoga_rules.position import View


def parse_typed_move(
    game: Game, view: View, words: str, context: Context, card_names: CardNames
) -> Move | str:
    """Return the typed legal move, or the `no:` line with the reason why there is none."""
    typed = typed_move(game, view, words, card_names.card)
    if not isinstance(typed, NotPlayed):
        return typed
    is_move = typed.is_move or parse_line(words, context).is_move_command
    return f"no: {typed.says}" if is_move else not_understood(words, context)


@dataclass(frozen=True, slots=True)
class BoardAnswers:
    """The answers to `look`, `where` and `legal` for one board."""

    game: Game
    view: View
    count: int | None
    """Number of moves made; `None` for a board that has ended."""
    card_names: CardNames
    has_ended: bool = False

    def look(self) -> Iterator[str]:
        """Return the whole position, a line for each pile, and how columns build."""
        yield board_line(self.game, self.view, self.count)
        yield from position_lines(self.game, self.view, self.card_names)
        yield rule_line(self.game, self.view)

    def where(self, words: str) -> Iterator[str]:
        """Return the places of the cards that `words` names."""
        if not words:
            yield "no: Which card? Type where 7C, where 10H, or where K for all kings."
            return
        cards = cards_matching(words)
        if not cards:
            yield f"no: {words!r} is not a card. Type, for example, where 7C, where 10H or where K."
            return
        yield from where_lines(self.game, self.view, cards, self.card_names)

    def legal(self) -> Iterator[str]:
        """Return the number of legal moves, then a line for each: its notation and its effect."""
        moves = [] if self.has_ended else legal_moves(self.game, self.view)
        yield f"legal: {len(moves)}"
        for move in moves:
            yield f"legal {move}: {move_words(self.game, self.view, move, self.card_names)}"


def rules_lines(words: str, current: Game | None) -> Iterator[str]:
    """Return the rules of the game that `words` names; without words, of the current game.

    Return a `no:` line if there is no such game.
    """
    name = words.strip().lower()
    game = GAMES.get(name) if name else current
    if game is None:
        yield f"no: Which game? There are {', '.join(GAMES)}."
        return
    yield from (f"rules {line}" for line in plain_lines(game))
