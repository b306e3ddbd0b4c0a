"""The arithmetic of a match: totals and places follow from the results of its races. Pure.

Order: races raced, so that nobody gains by sitting one out, since most races cost money; then total
net; then races won; then the best race; else a place is shared.
"""

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from saratoga_protocol.events import Match, MatchResult, MatchRow, Outcome, Racer


class Total(NamedTuple):
    """A player's totals over the finished races of a match."""

    row: MatchRow
    place: int
    """The place in the match from 1; equal players share a place."""
    net: int
    """Casino dollars won or lost in all races of the match."""
    wins: int
    """The number of races of the match in which the player finished first, alone or tied."""


def is_over(match: Match) -> bool:
    """Return whether all races of the match have finished."""
    return len(match.finished) >= match.races


def totals(match: Match) -> list[Total]:
    """Return everyone's totals, in order of place."""
    keys = [_key(row) for row in match.rows]
    placed = [
        Total(row, 1 + sum(other > key for other in keys), _net(row), _wins(row))
        for row, key in zip(match.rows, keys, strict=True)
    ]
    return sorted(placed, key=lambda total: (total.place, total.row.player))


def champions(match: Match) -> list[MatchRow]:
    """Return the rows of the first place of a finished match, which may be shared."""
    return [each.row for each in totals(match) if each.place == 1] if is_over(match) else []


def with_race(match: Match, outcome: Outcome, racers: Iterable[Racer]) -> Match:
    """Return the match with one more finished race; a race that it has already changes nothing."""
    if outcome.race in match.finished:
        return match
    named = {racer.player: racer for racer in racers}
    rows = {row.player: row for row in match.rows}
    for result in outcome.results:
        racer, known = named[result.player], rows.get(result.player)
        told = MatchResult(race=outcome.race, place=result.place, net=result.net)
        rows[result.player] = MatchRow(
            player=racer.player,
            name=racer.name,
            bot=racer.bot,
            results=[*(known.results if known else ()), told],
        )
    longer = replace(match, finished=[*match.finished, outcome.race], rows=[*rows.values()])
    return replace(longer, rows=[each.row for each in totals(longer)])


def _key(row: MatchRow) -> tuple[int, int, int, int]:
    best = max((result.net for result in row.results), default=0)
    return len(row.results), _net(row), _wins(row), best


def _net(row: MatchRow) -> int:
    return sum(result.net for result in row.results)


def _wins(row: MatchRow) -> int:
    return sum(result.place == 1 for result in row.results)
