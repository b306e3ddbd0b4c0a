"""The test of whether a board is stuck, and the rule for when the server may declare it.

A *progress move* takes a card from the reserve or the waste, or turns a face-down card up, or makes a
space that is filled automatically, or leaves more cards banked than before. Every other carry is
*neutral*: from column to column, or back from a foundation and up again. A position is stuck when no
progress move can be reached by neutral moves, draws and redeals. Then the final count is certain.

Neutral moves change neither stock nor waste. So the search goes through the arrangements of columns
and foundations that neutral moves reach. In each it tries every card that draws and redeals alone
can bring to the top of the waste. It reads no face-down card: whatever lies there, turning it up is
progress.
"""

from typing import Final, TypeAlias

from saratoga_rules.analysis import Analysis
from saratoga_rules.game import Game
from saratoga_rules.play import is_won
from saratoga_rules.position import Position
from saratoga_rules.stuck.arrangements import ArrangementSearch
from saratoga_rules.stuck.peeling import PeelingSearch, can_peel
from saratoga_rules.stuck.prospects import is_in_sight, prospects

DEFAULT_LIMIT: Final = 20_000
"""Arrangements that a background search tries before giving up."""

INLINE_LIMIT: Final = 20
"""Arrangements that may be searched between a move and its answer: about 2 ms."""

StuckSearch: TypeAlias = ArrangementSearch | PeelingSearch


def is_stuck(game: Game, position: Position, limit: int = DEFAULT_LIMIT) -> bool | None:
    """Return whether a board is stuck; `None` if `limit` arrangements do not decide it.

    A won board is not stuck.
    """
    search = stuck_search(Analysis(game, position))
    return False if search is None else search.advance(limit)


def may_declare(position: Position) -> bool:
    """Return whether every stock card was seen; before, a verdict would reveal hidden cards."""
    return not position.stock or position.passes > 1


def stuck_search(analysis: Analysis) -> StuckSearch | None:
    """Return a search, to be advanced in steps; `None` if the board is plainly not stuck."""
    game, position = analysis.game, analysis.position
    if is_in_sight(analysis) or is_won(game, position):
        return None
    search = PeelingSearch if can_peel(game) else ArrangementSearch
    return search(game, position, prospects(game, position))
