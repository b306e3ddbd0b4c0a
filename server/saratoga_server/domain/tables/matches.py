"""A match: 3 or 5 races at a table, with a champion over all of them.

It begins when its first race finishes, so a voided race counts for nothing. People may come and go,
and the game may change. `saratoga_protocol.matches` computes its table.
"""

from typing import Final

from msgspec.structs import replace

from saratoga_protocol.events import Match, Outcome
from saratoga_protocol.matches import is_over, with_race
from saratoga_server.domain.tables.state import CommandRejected, TableState

NO_MATCH: Final = 1

RACES: Final = (NO_MATCH, 3, 5)
"""Numbers of races of a match."""


def unfinished(match: Match | None) -> Match | None:
    """Return the match that the next race belongs to; `None` if that race begins a new one."""
    return None if match is None or is_over(match) else match


def match_after(table: TableState, outcome: Outcome) -> Match | None:
    """Return the match after a race at the table; `None` without a match."""
    if table.settings.races == NO_MATCH:
        return None
    match = unfinished(table.match)
    begun = match or Match(races=table.settings.races, finished=[], rows=[])
    return with_race(begun, outcome, table.racers.values())


def checked_races(table: TableState, races: int) -> int:
    """Return the number of races. Raises `CommandRejected` in a match of another length."""
    match = table.match
    if match is not None and races not in (match.races, NO_MATCH):
        raise CommandRejected(
            "bad_settings",
            f"This match of {match.races} races has begun, so its length stays. To end it without a champion, "
            "set 1 race.",
        )
    return races


def forgotten(table: TableState, player: str) -> TableState:
    """Return the table after a change that replaces the player's name in the match by the id, if needed.

    The results stay, because the others' places follow from them.
    """
    match = table.match
    if match is None or all(row.player != player or row.name == player for row in match.rows):
        return table
    rows = [replace(row, name=player) if row.player == player else row for row in match.rows]
    return replace(table, match=replace(match, rows=rows))
