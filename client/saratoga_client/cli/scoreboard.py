"""A live scoreboard for terminals: standings with money, bars and the clock.

It needs rich, so import it only if there is a terminal to show it on.
"""

from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from saratoga_client.cli.rich_text import cell, name_cell
from saratoga_client.session.match_text import match_lines, race_of_match
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, TableView, remaining, rows
from saratoga_client.wording import dollars, minutes_and_seconds, shown_name
from saratoga_rules.cards import PACK
from saratoga_rules.games import GAMES

WIDEST_BAR: Final = 20
"""Width in cells of the bar of a won board."""

REFRESHES: Final = 8
"""Number of redraws of the scoreboard per second."""

_MEDALS: Final = {1: "bold yellow", 2: "bold", 3: "bold"}
_STATES: Final = {
    "racing": "cyan",
    "won": "bold green",
    "cashed out": "yellow",
    "stuck": "magenta",
    "out of time": "red",
    "left": "dim",
    "ended by host": "red",
    "idle": "dim",
}


class Scoreboard:
    """A scoreboard redrawn in place; leaving this context restores the terminal."""

    def __init__(self, now: Callable[[], int], console: Console | None = None) -> None:
        """Create the scoreboard; `now` returns the server's time in milliseconds."""
        self._state: SessionState | None = None
        self._now = now
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

    def show(self, state: SessionState) -> None:
        """Show this state from the next redraw on."""
        self._state = state

    def _render(self) -> RenderableType:
        return "" if self._state is None else watched_scoreboard(self._state, self._now())


def watched_scoreboard(state: SessionState, now: int) -> RenderableType:
    """Return the scoreboard of a watched table, with announcement, alarms and the latest check of a record."""
    notes = [cell(f"house: {state.announcement}", "bold")] if state.announcement else []
    notes += [cell(f"ALARM: {alarm}", "bold red") for alarm in state.alarms]
    latest = list(state.verifications.values())[-1:]
    notes += [cell(each.sentence, "dim" if each.ok else "bold red") for each in latest]
    return Group(scoreboard(state.table_view, now), *notes)


def scoreboard(view: TableView, now: int) -> RenderableType:
    """Return the scoreboard of a table at the server's time `now`."""
    goal = _cards_in(view.table.settings.game)
    heading = Text.assemble(
        cell(view.table.code, "bold"),
        cell(f"  {view.table.settings.game}  race {view.table.race.partition('/')[2]}"),
        cell(f"  {_clock_text(view, now)}"),
        cell(f"  {race_of_match(view.table)}".rstrip()),
    )
    if not rows(view):
        return Group(heading, _seats(view))
    notes = [
        f"{row.place}. {shown_name(row.name, row.bot, row.level)}: {row.tie}"
        for row in rows(view)
        if row.tie
    ]
    if view.table.match is not None and view.outcome is not None:
        notes += match_lines(view.table.match, "", view.levels)
    if view.table.notice:
        notes.append(view.table.notice)
    return Group(heading, _standings(view, goal), *(cell(note, "dim") for note in notes))


def _cards_in(game: str) -> int:
    """Return the number of cards on a won board's foundations; one pack for an unknown game."""
    return GAMES[game].goal.cards if game in GAMES else len(PACK)


def _standings(view: TableView, goal: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", justify="right")
    table.add_column("racer", min_width=16)
    table.add_column("banked", justify="right")
    table.add_column("", min_width=WIDEST_BAR)
    table.add_column("net", justify="right", min_width=6)
    table.add_column("behind", justify="right", min_width=6)
    table.add_column("", min_width=11)
    for row in rows(view):
        table.add_row(
            Text(f"{row.place}.", _MEDALS.get(row.place, "")),
            name_cell(row.name, row.bot, row.level),
            str(row.banked),
            _bar(row, goal),
            Text(dollars(row.net), "green" if row.net > 0 else "red" if row.net < 0 else ""),
            f"${row.gap}" if row.gap else "",
            cell(row.state, _STATES.get(row.state, "")),
        )
    return table


def _seats(view: TableView) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for seat in view.table.seats:
        host = "host" if seat.player == view.table.host else ""
        state = "ready" if seat.ready else "seated" if seat.connected else "away"
        table.add_row(name_cell(seat.name, seat.bot, seat.level), Text(host, "dim"), state)
    return table


def _bar(row: Row, goal: int) -> Text:
    filled = min(WIDEST_BAR, round(WIDEST_BAR * row.banked / goal)) if goal else 0
    return Text.assemble(("━" * filled, "green"), ("─" * (WIDEST_BAR - filled), "dim"))


def _clock_text(view: TableView, now: int) -> str:
    if view.outcome is not None:
        return "over"
    left = remaining(view, now)
    if left is not None:
        return f"{minutes_and_seconds(left)} left"
    if view.table.phase == "countdown" and view.table.start_at:
        wait = max(0, view.table.start_at - now)
        return f"starts in {-(-wait // 1000)} s"
    return view.table.phase
