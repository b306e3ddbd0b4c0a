"""A race as a picture for terminals: standings that move, with money, bars and the clock.

Stands on rich, so it is imported only where a terminal is there to show it.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from saratoga_client.cli.rich_text import cell, name_cell
from saratoga_client.session.table_view import Row, TableView, remaining, rows
from saratoga_client.wording import dollars, minutes_and_seconds, shown_name
from saratoga_rules.cards import PACK
from saratoga_rules.games import GAMES

WIDEST_BAR: Final = 20
"""Cells of the bar of a won board."""

REFRESHES: Final = 8
"""A second."""

_MEDALS: Final = {1: "bold yellow", 2: "bold", 3: "bold"}
_STATES: Final = {
    "racing": "cyan",
    "won": "bold green",
    "cashed out": "yellow",
    "stuck": "magenta",
    "out of time": "red",
    "left": "dim",
}


class Scoreboard:
    """A live picture; a context manager, so that the terminal is always restored."""

    def __init__(self, clock: Callable[[], int], console: Console | None = None) -> None:
        self._picture: TableView | None = None
        self._clock = clock
        self._live = Live(
            get_renderable=self._render, refresh_per_second=REFRESHES, console=console
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(self, before: TableView | None, after: TableView) -> None:
        """Show this picture from now on."""
        self._picture = after

    def _render(self) -> RenderableType:
        return "" if self._picture is None else drawn(self._picture, self._clock())


def drawn(picture: TableView, now: int) -> RenderableType:
    """The whole picture at our time `now`."""
    goal = _cards_in(picture.table.settings.game)
    heading = Text.assemble(
        cell(picture.table.code, "bold"),
        cell(f"  {picture.table.settings.game}  race {picture.table.race.partition('/')[2]}"),
        cell(f"  {_clock_text(picture, now)}"),
    )
    if not rows(picture):
        return Group(heading, _seats(picture))
    notes = [
        f"{row.place}. {shown_name(row.name, row.bot)}: {row.tie}"
        for row in rows(picture)
        if row.tie
    ]
    if picture.table.notice:
        notes.append(picture.table.notice)
    return Group(heading, _standings(picture, goal), *(cell(note, "dim") for note in notes))


def _cards_in(game: str) -> int:
    """How many cards a won board has banked; a game of a newer house is taken for one pack."""
    return GAMES[game].goal.cards if game in GAMES else len(PACK)


def _standings(picture: TableView, goal: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("racer", min_width=16)
    table.add_column("banked", justify="right")
    table.add_column("", min_width=WIDEST_BAR)
    table.add_column("net", justify="right", min_width=6)
    table.add_column("behind", justify="right", min_width=6)
    table.add_column("", min_width=11)
    for row in rows(picture):
        table.add_row(
            Text(f"{row.place}.", _MEDALS.get(row.place, "")),
            name_cell(row.name, row.bot),
            str(row.banked),
            _bar(row, goal),
            Text(dollars(row.net), "green" if row.net > 0 else "red" if row.net < 0 else ""),
            f"${row.gap}" if row.gap else "",
            cell(row.state, _STATES.get(row.state, "")),
        )
    return table


def _seats(picture: TableView) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for seat in picture.table.seats:
        host = "host" if seat.player == picture.table.host else ""
        state = "ready" if seat.ready else "seated" if seat.connected else "away"
        table.add_row(name_cell(seat.name, seat.bot), Text(host, "dim"), state)
    return table


def _bar(row: Row, goal: int) -> Text:
    filled = min(WIDEST_BAR, round(WIDEST_BAR * row.banked / goal)) if goal else 0
    return Text.assemble(("━" * filled, "green"), ("─" * (WIDEST_BAR - filled), "dim"))


def _clock_text(picture: TableView, now: int) -> str:
    if picture.outcome is not None:
        return "over"
    left = remaining(picture, now)
    if left is not None:
        return f"{minutes_and_seconds(left)} left"
    if picture.table.phase == "countdown" and picture.table.start_at:
        wait = max(0, picture.table.start_at - (now + picture.clock_lead))
        return f"starts in {-(-wait // 1000)} s"
    return picture.table.phase
