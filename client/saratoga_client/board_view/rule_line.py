"""How columns build and what fills a space, in rows of the board that no card needs. Pure."""

from collections.abc import Mapping
from typing import Final

from saratoga_client.board_view.layout import BoardLayout
from saratoga_client.rules_text import column_rules
from saratoga_client.text import wrapped
from saratoga_rules.game import Game
from saratoga_rules.position import View

MARGIN: Final = 1
"""Number of empty cells at both sides of the text."""


def rule_rows(game: Game, view: View, layout: BoardLayout) -> Mapping[int, str]:
    """Return the lines of text by row: the last rows of the board, if no card lies in them.

    The text takes one line if the board is wide enough, else a line or more for each sentence. The
    last sentence is left out first if there is too little room.
    """
    sentences = column_rules(game, view)
    width = layout.width - 2 * MARGIN
    free = layout.height - max(tile.y + tile.height for tile in layout.tiles)
    lines = wrapped(" ".join(sentences), width)
    if len(lines) > 1:
        first, second = (wrapped(sentence, width) for sentence in sentences)
        lines = [*first, *second] if len(first) + len(second) <= free else first
    if len(lines) > free:
        return {}
    return dict(enumerate(lines, start=layout.height - len(lines)))
