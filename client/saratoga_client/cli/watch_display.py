"""Where the pictures of a table go: a live scoreboard, plain lines, or JSON."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from msgspec import Struct

from saratoga_client.local.clock import now
from saratoga_client.output import OutputFormat, write_json, write_line
from saratoga_client.plain.table_changes import changes, opening
from saratoga_client.session.table_view import Row, TableView, remaining, rows


class Display(Protocol):
    """Shows a table as it changes."""

    def show(self, before: TableView | None, after: TableView) -> None:
        """Show what is new; `before` is what was shown last, `None` at first."""
        ...


class RowOut(Struct, frozen=True, kw_only=True):
    """A racer in `saratoga.watch.v1`."""

    place: int
    name: str
    player: str
    bot: bool
    banked: int
    net: int
    state: str
    gap: int
    """Casino dollars behind the first."""
    tie: str


class PictureOut(Struct, frozen=True, kw_only=True):
    """What `--json` prints for every change: the table as it is then, whole."""

    schema: str = "saratoga.watch.v1"
    table: str
    race: str
    game: str
    phase: str
    now: int
    """Milliseconds since 1970 by the house's clock."""
    remaining_ms: int | None
    rows: list[RowOut]
    notice: str
    digest: str | None
    """Of the finished race's record."""


class PlainDisplay:
    """A line for every change."""

    def show(self, before: TableView | None, after: TableView) -> None:
        for line in opening(after) if before is None else changes(before, after):
            write_line(line)


class JsonDisplay:
    """An object for every change."""

    def show(self, before: TableView | None, after: TableView) -> None:
        shown = picture_out(after, now())
        if before is None or picture_out(before, shown.now) != shown:
            write_json(shown)


def display_for(shown_in: OutputFormat) -> AbstractContextManager[Display]:
    """The display that was asked for; leaving it restores the terminal."""
    match shown_in:
        case OutputFormat.JSON:
            return nullcontext(JsonDisplay())
        case OutputFormat.PLAIN:
            return nullcontext(PlainDisplay())
        case OutputFormat.LIVE:
            from saratoga_client.cli.scoreboard import Scoreboard

            return Scoreboard(now)


def picture_out(picture: TableView, ours: int) -> PictureOut:
    """The picture at our time `ours`."""
    return PictureOut(
        table=picture.table.code,
        race=picture.table.race,
        game=picture.table.settings.game,
        phase=picture.table.phase,
        now=ours + picture.clock_lead,
        remaining_ms=remaining(picture, ours),
        rows=[_row_out(row) for row in rows(picture)],
        notice=picture.table.notice,
        digest=None if picture.outcome is None else picture.outcome.digest,
    )


def _row_out(row: Row) -> RowOut:
    return RowOut(
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
