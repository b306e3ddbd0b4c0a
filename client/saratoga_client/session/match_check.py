"""The table of a match, compared with the announced results of its races.

A client that has seen a race's result knows every place and net in it. Places and totals follow from the
results of the races, also of those that the client has not seen.
"""

from collections.abc import Iterator
from typing import Final

from saratoga_client.session.bounded import put_newest
from saratoga_protocol.events import Outcome
from saratoga_protocol.match_rows import Match, MatchRow
from saratoga_protocol.matches import ranked

MOST_SEEN: Final = 16
"""Results kept: more than a match has races."""

LEAST_GAP: Final = 1_000
"""The fewest race numbers that a server leaves out after a restore, which may have lost a race."""

WRONG_TOTALS: Final = (
    "the places or totals in the table of the match do not follow from its races' results"
)
MISSING_RACE: Final = "the table of the match leaves out race {race}, whose result was announced"
OTHER_RESULT: Final = "the table of the match has other results of race {race} than were announced"


class SeenResults:
    """The last results that were announced at a table."""

    def __init__(self) -> None:
        self._seen: dict[str, Outcome] = {}
        """The results by race id."""

    def see(self, outcome: Outcome) -> None:
        """Keep the first announced result of a race."""
        if outcome.race not in self._seen:
            put_newest(self._seen, outcome.race, outcome, MOST_SEEN)

    def forget(self, race: str) -> None:
        """Drop the result of a race that a server which may lose data shows as running again."""
        self._seen.pop(race, None)

    def faults(self, match: Match) -> Iterator[str]:
        """Yield how the table of a match contradicts these results or itself."""
        raced = {result.race for row in match.rows for result in row.results}
        has_empty_row = not all(row.results for row in match.rows)
        if has_empty_row or raced - {*match.finished} or ranked(match.rows) != match.rows:
            yield WRONG_TOTALS
        for race in match.finished:
            outcome = self._seen.get(race)
            if outcome is not None and _announced(outcome) != _results(match.rows, race):
                yield OTHER_RESULT.format(race=race)
        for race in self._seen:
            if race not in match.finished and _is_between(race, match.finished):
                yield MISSING_RACE.format(race=race)


def _announced(outcome: Outcome) -> dict[str, tuple[int, int]]:
    return {row.player: (row.place, row.net) for row in outcome.results}


def _results(rows: list[MatchRow], race: str) -> dict[str, tuple[int, int]]:
    return {
        row.player: (result.place, result.net)
        for row in rows
        for result in row.results
        if result.race == race
    }


def _is_between(race: str, finished: list[str]) -> bool:
    """Return whether a race lies between two races of a match, and was not lost by a restore."""
    before = [each for each in finished if _number(each) < _number(race)]
    after = [each for each in finished if _number(each) > _number(race)]
    if not before or not after:
        return False
    return _number(after[0]) - _number(before[-1]) < LEAST_GAP


def _number(race: str) -> int:
    return int(race.rpartition("/")[2])
