"""Write one table's events as lines while they happen, for players and watchers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from saratoga_client.plain.event_lines import change_lines, opening_lines
from saratoga_client.plain.io import LineOutput
from saratoga_client.plain.result_lines import standing_line
from saratoga_client.session.news import Kind, News, newest
from saratoga_client.session.result_text import gap
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import Row, rows
from saratoga_client.wording import ordinal, shown_name

EVERY: Final = 5_000
"""Minimum milliseconds between lines on the lead or a pass; hearing a line takes as long."""

EVERY_VERBOSE: Final = 2_000
"""Minimum milliseconds between verbose reports, which list every changed standing."""

PACED: Final = frozenset({Kind.EVEN, Kind.LEAD, Kind.PASS})
"""The news that the next change of the standings may make obsolete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingsShown:
    """The standings of a race that were written last, and the time of writing."""

    race: str = ""
    rows: tuple[Row, ...] = ()
    news: tuple[News, ...] = ()
    at: int = 0
    """The time of writing, in milliseconds by the server's clock."""


class StandingsReport(NamedTuple):
    """The lines about standings that are due now, and the state after writing them."""

    shown: StandingsShown
    lines: tuple[str, ...] = ()
    wait: int | None = None
    """Milliseconds until a delayed report is due; `None` if nothing is delayed."""


def report_standings(
    shown: StandingsShown, state: SessionState, now: int, *, is_verbose: bool = False
) -> StandingsReport:
    """Return the lines for changed standings, if a report is due."""
    race, standings = state.table.race, tuple(rows(state.table_view))
    is_running = state.phase == "running" and state.table_view.outcome is None
    if not is_running or shown.race != race:
        return StandingsReport(StandingsShown(race=race, rows=standings, news=state.news))
    news = [each for each in newest(shown.news, state.news) if each.kind in PACED]
    moved = [row for row in standings if row not in shown.rows] if is_verbose else []
    if not news and not moved:
        return StandingsReport(replace(shown, news=state.news, rows=standings))
    wait = shown.at + (EVERY_VERBOSE if is_verbose else EVERY) - now
    if wait > 0:
        return StandingsReport(shown, wait=wait)
    reported = StandingsShown(race=race, rows=standings, news=state.news, at=now)
    if is_verbose:
        evens = [f"news: {each.text}" for each in news if each.kind is Kind.EVEN]
        standing = [f"standing {standing_line(row)}" for row in moved]
        return StandingsReport(reported, (*evens, *standing))
    # breaking even happens once; a summary would drop it
    texts = [each.text for each in news if each.kind is Kind.EVEN]
    others = [each.text for each in news if each.kind is not Kind.EVEN]
    texts += others if len(others) < 2 else [summary(state)]
    return StandingsReport(reported, tuple(f"news: {text}" for text in texts))


def summary(state: SessionState) -> str:
    """Return a short phrase on the standings, for several changes at once."""
    standings = rows(state.table_view)
    own = next((row for row in standings if row.player == state.player), None)
    if own is not None:
        return f"you are {ordinal(own.place)} of {len(standings)}, {gap(state)}"
    first = [row for row in standings if row.place == 1]
    names = " and ".join(shown_name(row.name, row.bot, row.level) for row in first[:2])
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return f"{names}{more} {'leads' if len(first) == 1 else 'lead'} with {first[0].banked}"


class ChangeWriter:
    """A writer of the difference between each state of a table and the previous state."""

    def __init__(self, output: LineOutput, now: Callable[[], int]) -> None:
        """Create the writer; `now` returns the server's time in milliseconds since 1970."""
        self._output = output
        self._now = now
        self._state: SessionState | None = None
        self._shown = StandingsShown()
        self._timer: asyncio.TimerHandle | None = None
        self._is_paused = False
        self.last_over: SessionState | None = None
        """The last state with the result of a race; `None` before the first result."""

    def show(self, state: SessionState) -> None:
        """Write the changes since the previous state; for the first state, the whole table."""
        before, self._state = self._state, state
        if state.table_view.outcome is not None:
            self.last_over = state
        if self._is_paused:
            return
        style, now = self._output.style, self._now()
        if before is None:
            self._output.write_all(opening_lines(state, style, now))
        else:
            self._output.write_all(change_lines(before, state, style, now))
        self._report_standings()

    def pause(self) -> None:
        """Write nothing until `resume`; changes in between are never written."""
        self._is_paused = True
        self._cancel_timer()

    def resume(self) -> None:
        """Write changes again, from now on."""
        self._is_paused = False

    def _report_standings(self) -> None:
        """Write the standings if they are due, or start a timer until they are due."""
        self._cancel_timer()
        assert self._state is not None, "a state was shown"
        report = report_standings(
            self._shown, self._state, self._now(), is_verbose=self._output.style.is_verbose
        )
        self._shown = report.shown
        self._output.write_all(report.lines)
        if report.wait is not None:
            self._timer = asyncio.get_running_loop().call_later(
                report.wait / 1000, self._report_standings
            )

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
