"""Sentences on the match at a table: which race it is, who leads, who is the champion. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from saratoga_client.wording import (
    counted,
    dollars,
    listed,
    ordinal,
    shown_name,
)
from saratoga_protocol.events import Match, MatchRow, Seat, Table
from saratoga_protocol.matches import champions, is_over, totals


def race_of_match(table: Table, match: Match | None) -> str:
    """Return the place of the table's race in its match, such as `race 2 of 3`; empty without a match."""
    races = table.settings.races
    if races == 1:
        return ""
    finished = [] if match is None else match.finished
    if table.race in finished:
        return f"race {len(finished)} of {races}"
    # the news that a match is over may come a moment before its end
    return f"race {len(finished) % races + 1} of {races}"


class Totals(NamedTuple):
    """A player's races, races won and casino dollars."""

    races: int
    wins: int
    net: int


def totals_of(table: Table, match: Match | None, seat: Seat) -> Totals:
    """Return the totals of a seat: in its match, which begins at zero, or without a match at the table."""
    if table.settings.races == 1:
        return Totals(seat.races, seat.wins, seat.net)
    for each in [] if match is None else totals(match):
        if each.row.player == seat.player:
            return Totals(len(each.row.results), each.wins, each.net)
    return Totals(0, 0, 0)


def champion_words(match: Match, you: str) -> str:
    """Return who won the match; empty before its end."""
    first = champions(match)
    # the player comes first in a list
    first.sort(key=lambda row: row.player != you)
    if not first:
        return ""
    names = listed(["You" if row.player == you else _name(row) for row in first])
    is_one = len(first) == 1
    verb = "share the match" if not is_one else f"{'are' if names == 'You' else 'is'} the champion"
    return f"{names} {verb}: {dollars(totals(match)[0].net)} over {counted(match.races, 'race')}."


def match_heading(match: Match) -> str:
    """Return a heading for the table of a match, such as `match after race 2 of 3`."""
    races = counted(match.races, "race")
    done = len(match.finished)
    return f"match of {races}" if is_over(match) else f"match after race {done} of {match.races}"


def _name(row: MatchRow) -> str:
    return shown_name(row.name, row.bot)


def match_lines(match: Match, you: str) -> Iterator[str]:
    """Return the table of a match in words: a heading, a line for each player, and the champion at its end."""
    yield f"match: {match_heading(match)}"
    for row, place, net, wins in totals(match):
        results = {result.race: result for result in row.results}
        races = [
            f"race {number} {ordinal(each.place)} {dollars(each.net)}"
            if (each := results.get(race)) is not None
            else f"race {number} missed"
            for number, race in enumerate(match.finished, 1)
        ]
        won = counted(wins, "win")
        yield f"match {place}. {_name(row)}: {dollars(net)}, {won}, {', '.join(races)}"
    if champion := champion_words(match, you):
        yield f"match: {champion}"
