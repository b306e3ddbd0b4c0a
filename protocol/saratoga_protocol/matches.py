"""The table of a match, computed from the announced results of its races. Pure.

The server adds each finished race once; a client adds the results that it saw, and compares.
Order: races raced, so that nobody gains by sitting one out, since most races cost money; then total net; then
races won; then the best race; else a place is shared.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from saratoga_protocol.events import Outcome, Result, Table, TableChanged
from saratoga_protocol.match_rows import Match, MatchResult, MatchRow


def is_over(match: Match) -> bool:
    """Return whether all races of the match have finished."""
    return len(match.finished) >= match.races


def changed_table(event: TableChanged, known: Table | None) -> Table:
    """Return the table after a change, with the match of the known table if the event leaves it out."""
    if not event.same_match or known is None or known.code != event.table.code:
        return event.table
    return replace(event.table, match=known.match)


def champions(match: Match) -> list[MatchRow]:
    """Return the rows of the first place of a finished match; several if it is shared, none before its end."""
    return [row for row in match.rows if row.place == 1] if is_over(match) else []


def with_race(match: Match, outcome: Outcome) -> Match:
    """Return the match with one more finished race; a race that it has already changes nothing."""
    if outcome.race in match.finished:
        return match
    rows = {row.player: row for row in match.rows}
    for result in outcome.results:
        rows[result.player] = _added(rows.get(result.player), outcome.race, result)
    return replace(match, finished=[*match.finished, outcome.race], rows=ranked(rows.values()))


def ranked(rows: Iterable[MatchRow]) -> list[MatchRow]:
    """Return the rows with the places that follow from their results, in order of place."""
    counted = [_counted(row) for row in rows]
    keys = [_key(row) for row in counted]
    placed = [
        replace(row, place=1 + sum(other > key for other in keys))
        for row, key in zip(counted, keys, strict=True)
    ]
    return sorted(placed, key=lambda row: (row.place, row.player))


def _added(row: MatchRow | None, race: str, result: Result) -> MatchRow:
    known: Sequence[MatchResult] = () if row is None else row.results
    return MatchRow(
        player=result.player,
        name=result.name,
        bot=result.bot,
        place=0,
        net=0,
        wins=0,
        results=[*known, MatchResult(race=race, place=result.place, net=result.net)],
    )


def _counted(row: MatchRow) -> MatchRow:
    return replace(
        row,
        net=sum(result.net for result in row.results),
        wins=sum(result.place == 1 for result in row.results),
    )


def _key(row: MatchRow) -> tuple[int, int, int, int]:
    return len(row.results), row.net, row.wins, max(result.net for result in row.results)
