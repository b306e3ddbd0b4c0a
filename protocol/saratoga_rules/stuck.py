"""No more points to be made: the exact test, and when the server may act on it.

A *progress move* takes a card from the reserve or the waste, or makes a space fill itself, or
leaves more cards banked than there are now. Every other carry is *neutral*: from column to
column, or back from a foundation and up again. A position is stuck when no progress move can be
reached by neutral moves, draws and redeals: then the final count is certain, however long one
shuffles cards from here to there.

Neutral moves touch neither stock nor waste. So it is enough to go through the arrangements of
columns and foundations that neutral moves reach, and to try in each of them every card that draws
and redeals alone can bring to the top of the waste.
"""

from typing import Final

from saratoga_rules.arrangements import ArrangementSearch
from saratoga_rules.game import Game
from saratoga_rules.judge import is_won
from saratoga_rules.peeling import PeelingSearch, can_peel
from saratoga_rules.position import Position
from saratoga_rules.prospects import is_in_sight, prospects

DEFAULT_LIMIT: Final = 20_000
"""Arrangements to look at before giving up, where nobody is waiting."""

INLINE_LIMIT: Final = 20
"""Arrangements that may be looked at between a move and its answer: 2 ms."""


def is_stuck(game: Game, position: Position, limit: int = DEFAULT_LIMIT) -> bool | None:
    """Whether no more points can be made; `None` if `limit` arrangements do not prove it."""
    # nearly always there is something to be done, and nothing to search for
    return False if is_in_sight(game, position) else StuckSearch(game, position).advance(limit)


def may_declare(position: Position) -> bool:
    """Whether every stock card has been seen: before that a verdict would tell of hidden cards."""
    return not position.stock or position.passes > 1


class StuckSearch:
    """A search that can be left and taken up again, so that nobody waits for a long one."""

    def __init__(self, game: Game, position: Position) -> None:
        self._search: ArrangementSearch | PeelingSearch | None = None
        self._verdict: bool | None = None
        if is_in_sight(game, position) or is_won(game, position):
            self._verdict = False
        else:
            search = PeelingSearch if can_peel(game) else ArrangementSearch
            self._search = search(game, position, prospects(game, position))

    def advance(self, arrangements: int) -> bool | None:
        """Look at so many more arrangements: stuck, not stuck, or `None` for not known yet."""
        if self._verdict is None and self._search is not None:
            self._verdict = self._search.advance(arrangements)
        return self._verdict
