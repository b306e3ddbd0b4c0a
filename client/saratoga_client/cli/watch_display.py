"""Displays for a table that is watched: a live scoreboard, plain lines, or JSON."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct

from saratoga_client.output import OutputFormat, write_json
from saratoga_client.plain.change_writer import ChangeWriter
from saratoga_client.plain.output import LineOutput
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, TableView, remaining, rows


class Display(Protocol):
    """A display of a table while it changes."""

    def show(self, state: SessionState) -> None:
        """Show the table in this state."""
        ...


class WatchedRow(Struct, frozen=True, kw_only=True):
    """A racer in `saratoga.watch.v1`."""

    place: int
    name: str
    player: str
    bot: bool
    banked: int
    net: int
    state: str
    gap: int
    """Casino dollars behind the first place."""
    tie: str


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
    rows: list[WatchedRow]
    notice: str
    digest: str | None
    """Digest of the finished race's record; `None` before the end."""


class JsonDisplay:
    """A printer of one JSON object for every change."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._view: TableView | None = None

    def show(self, state: SessionState) -> None:
        """Print the table, unless only the time has changed."""
        shown = watched_table(state.table_view, self._now())
        if self._view is None or watched_table(self._view, shown.now) != shown:
            write_json(shown)
        self._view = state.table_view


def display_for(form: OutputFormat, now: Callable[[], int]) -> AbstractContextManager[Display]:
    """Return the display for an output format; leaving it restores the terminal.

    `now` returns the server's time in milliseconds.
    """
    match form:
        case OutputFormat.JSON:
            return nullcontext(JsonDisplay(now))
        case OutputFormat.PLAIN:
            return nullcontext(ChangeWriter(LineOutput(prompts=False, is_verbose=True), now))
        case OutputFormat.LIVE:
            # lines and JSON do not wait for Rich
            from saratoga_client.cli.scoreboard import Scoreboard

            return Scoreboard(now)


def watched_table(view: TableView, now: int) -> WatchedTable:
    """Return the JSON object of a table at the server's time `now`."""
    return WatchedTable(
        table=view.table.code,
        race=view.table.race,
        game=view.table.settings.game,
        phase=view.table.phase,
        now=now,
        remaining_ms=remaining(view, now),
        rows=[_watched_row(row) for row in rows(view)],
        notice=view.table.notice,
        digest=None if view.outcome is None else view.outcome.digest,
    )


def _watched_row(row: Row) -> WatchedRow:
    return WatchedRow(
        place=row.place,
        name=row.name,
        player=row.player,
        bot=row.bot,
        banked=row.banked,
        net=row.net,
        state=row.state,
        gap=row.gap,
        tie=row.tie,
    )
