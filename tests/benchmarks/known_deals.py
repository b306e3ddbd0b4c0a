"""Racing without being told what is legal: on deals that the load knows, along walks of its own."""

import random

from benchmarks.altered_house import KNOWN_DEALS, known_key
from benchmarks.closed_loop import house_load
from benchmarks.contestants import house_server
from benchmarks.lines import tell, undisturbed
from benchmarks.measuring import Load
from kit.lean_racers import LeanRacer
from saratoga_protocol.events import View
from saratoga_protocol.views import wire_view
from saratoga_rules.deal import deal_for_key
from saratoga_rules.game import Game
from saratoga_rules.games import GAMES
from saratoga_rules.judge import is_won, legal_moves, play
from saratoga_rules.position import Position
from saratoga_rules.stuck import INLINE_LIMIT, is_stuck, may_declare
from saratoga_rules.views import redact

LONGEST = 400
"""Moves of a walk: more than a measured board sees."""


class KnownDeals:
    """Walks on every deal that the altered house deals."""

    def __init__(self, game: str) -> None:
        self._game = game
        rules = GAMES[game]
        self._walks: list[tuple[View, list[str]]] = []
        for number in range(KNOWN_DEALS):
            opening = deal_for_key(rules, known_key(number))
            self._walks.append((wire_view(redact(opening)), _walk(rules, opening, number)))

    @undisturbed
    async def load(self, tables: int, seconds: float, *, legal: bool) -> Load:
        """Race along the walks, being told the legal moves or not."""
        with house_server("safe", altered=("known-deals",)) as running:
            load = await house_load(
                running, tables, self._game, seconds, choice=self._next, legal=legal
            )
        tell(f"known deals, legal moves {'told' if legal else 'not told'}", tables, load)
        return load

    def _next(self, racer: LeanRacer) -> str | None:
        assert racer.board is not None
        if racer.walk is None:
            assert racer.opening is not None
            shown = racer.opening.view
            racer.walk = next(walk for view, walk in self._walks if view == shown)
        count = racer.board.count
        return racer.walk[count] if count < len(racer.walk) else None


def _walk(game: Game, position: Position, seed: int) -> list[str]:
    """Moves as plausible racers make them, until the board would end."""
    chance = random.Random(seed)
    walk: list[str] = []
    while len(walk) < LONGEST and not is_won(game, position):
        legal = legal_moves(game, position)
        if not legal or (may_declare(position) and is_stuck(game, position, INLINE_LIMIT)):
            break
        banking = [move for move in legal if str(move).endswith((">up", ">down"))]
        move = banking[0] if banking else chance.choice(legal)
        walk.append(str(move))
        position = play(game, position, move)
    return walk
