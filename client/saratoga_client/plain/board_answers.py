"""What is said of a board when it is asked about: by whoever races, and by whoever practises. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from saratoga_client.input.card_query import cards_matching
from saratoga_client.plain.card_names import CardNames
from saratoga_client.plain.card_search import where_lines
from saratoga_client.plain.move_lines import move_words
from saratoga_client.plain.position import board_line, position_lines
from saratoga_client.rules_text import plain_lines
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import legal_moves
from saratoga_rules.views import View


@dataclass(frozen=True, slots=True)
class BoardAnswers:
    """A board that is asked about."""

    game: Game
    view: View
    count: int | None
    """Moves made; `None` where the log counts the end too."""
    card_names: CardNames
    has_ended: bool = False

    def look(self) -> Iterator[str]:
        """Everything, pile by pile."""
        yield board_line(self.game, self.view, self.count)
        yield from position_lines(self.game, self.view, self.card_names)

    def context(self, words: str) -> Iterator[str]:
        """Where a card is."""
        if not words:
            yield "no: Say which card: where 7C, where 10H, or where K for all four kings."
            return
        cards = cards_matching(words)
        if not cards:
            yield f"no: {words!r} is no card. Say such as: where 7C, where 10H, where K."
            return
        yield from where_lines(self.game, self.view, cards, self.card_names)

    def legal(self) -> Iterator[str]:
        """How many moves are legal, and then each: what to type, and what it does."""
        moves = [] if self.has_ended else legal_moves(self.game, self.view)
        yield f"legal: {len(moves)}"
        for move in moves:
            yield f"legal {move}: {move_words(self.game, self.view, move, self.card_names)}"


def rules_lines(words: str, here: Game | None) -> Iterator[str]:
    """The rules of a game, a heading and a sentence a line; `here` is the one being played."""
    name = words.strip().lower()
    game = GAMES.get(name) if name else here
    if game is None:
        yield f"no: Say which game: {', '.join(GAMES)}."
        return
    yield from (f"rules {line}" for line in plain_lines(game))
