"""Displays for a table that is watched: plain lines, or JSON."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from saratoga_client.output import OutputFormat, write_json
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.io import LineOutput
from saratoga_client.session.match_text import race_of_match
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, remaining, rows
from saratoga_protocol.events import Match, MatchResult
from saratoga_protocol.matches import champions, totals


class Display(Protocol):
    """A display of a table while it changes."""

    def show(self, state: SessionState) -> None:
        """Show the table in this state."""
        ...


class WatchedRecord(Struct, frozen=True, kw_only=True):
    """The check of a race's record in `saratoga.watch.v1` and `saratoga.bot.v1`."""

    race: str
    verified: bool
    sentence: str


class WatchedMatchRow(Struct, frozen=True, kw_only=True):
    """A player in the match of `saratoga.watch.v1`."""

    place: int
    name: str
    player: str
    bot: bool
    net: int
    wins: int
    results: list[MatchResult]
    """Race, place and net of each race that the player raced."""


class WatchedMatch(Struct, frozen=True, kw_only=True):
    """The match in `saratoga.watch.v1`."""

    races: int
    finished: list[str]
    champions: list[str]
    """Ids of the players in the first place after the last race; empty before."""
    rows: list[WatchedMatchRow]


class WatchedTable(Struct, frozen=True, kw_only=True):
    """The object that `--json` prints for every change: the whole table."""

    schema: str = "saratoga.watch.v1"
    table: str
    race: str
    game: str
    phase: str
    now: int
    """Milliseconds since 1970 by the server's clock."""
    remaining_ms: int | None
    """Milliseconds left; `None` if no race runs, or if the race has no time limit."""
    rows: list[Row]
    race_of_match: str
    """The race's place in its match, such as `race 2 of 3`; empty without a match."""
    match: WatchedMatch | None
    """The table of the match; `None` before its first race has finished."""
    notice: str
    digest: str | None
    """Digest of the finished race's record; `None` before the end."""
    verification: WatchedRecord | None
    """The latest check of a record, which may be that of the race before."""
    alarms: list[str]
    """Sentences on how the server contradicted itself, since the program has started."""
    announcement: str
    """The latest announcement of the server's operator; empty without one, and after the connection was lost."""


class JsonDisplay:
    """A printer of one JSON object for every change."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._state: SessionState | None = None

    def show(self, state: SessionState) -> None:
        """Print the table, unless only the time has changed."""
        shown = watched_table(state, self._now())
        if self._state is None or watched_table(self._state, shown.now) != shown:
            write_json(shown)
        self._state = state


def display_for(form: OutputFormat, now: Callable[[], int]) -> Display:
    """Return the display for an output format; `now` returns the server's time in milliseconds."""
    if form is OutputFormat.JSON:
        return JsonDisplay(now)
    return ChangeWriter(LineOutput(prompts=False, is_verbose=True), now)


def watched_table(state: SessionState, now: int) -> WatchedTable:
    """Return the JSON object of a table at the server's time `now`."""
    view = state.table_view
    return WatchedTable(
        table=view.table.code,
        race=view.table.race,
        game=view.table.settings.game,
        phase=view.table.phase,
        now=now,
        remaining_ms=remaining(view, now),
        rows=list(rows(view)),
        race_of_match=race_of_match(view.table, view.match),
        match=None if view.match is None else _watched_match(view.match),
        notice=view.table.notice,
        digest=None if view.outcome is None else view.outcome.digest,
        verification=next(
            (
                WatchedRecord(race=race, verified=found.ok, sentence=found.sentence)
                for race, found in list(state.verifications.items())[-1:]
            ),
            None,
        ),
        alarms=list(state.alarms),
        announcement=state.announcement,
    )


def _watched_match(match: Match) -> WatchedMatch:
    return WatchedMatch(
        races=match.races,
        finished=match.finished,
        champions=[row.player for row in champions(match)],
        rows=[
            WatchedMatchRow(
                place=place,
                name=row.name,
                player=row.player,
                bot=row.bot,
                net=net,
                wins=wins,
                results=row.results,
            )
            for row, place, net, wins in totals(match)
        ],
    )
