"""Counting up: a finished race becomes a record, an outcome, and leaderboard entries."""

from collections.abc import Mapping
from typing import Final

from saratoga_protocol.events import Outcome, Result
from saratoga_rules.games import GAMES
from saratoga_rules.record import (
    LogLine,
    RaceRecord,
    RacerLog,
    digest_of,
    format_record,
)
from saratoga_rules.standing import Placed, Racer, ranking

from saratoga_server.ports import Millis, SettledResult, Settlement
from saratoga_server.race import Board
from saratoga_server.table import TableState

FEWEST_RACERS: Final = 2
"""A ranked race has at least two people who each made a move; a bots' one as many racers."""


def placed(state: TableState, boards: Mapping[str, Board]) -> list[Placed]:
    """Everyone in order of finish."""
    return ranking(
        GAMES[state.settings.game],
        [
            Racer(player=player, banked=board.banked, state=board.state, reached=board.reached)
            for player, board in boards.items()
        ],
    )
