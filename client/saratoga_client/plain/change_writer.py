"""Write one table's events as lines while they happen, for players and watchers."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

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


def _summarised(news: Sequence[News], state: SessionState) -> list[str]:
    """Return the texts of paced news: one summary for several on the lead or a pass."""
    # breaking even happens once; a summary would drop it
    evens = [each.text for each in news if each.kind is Kind.EVEN]
    others = [each.text for each in news if each.kind is not Kind.EVEN]
    return evens + (others if len(others) < 2 else [summary(state)])


def summary(state: SessionState) -> str:
    """Return a short phrase on the standings, for several changes at once."""
    standings = rows(state.table_view)
    own = next((row for row in standings if row.player == state.player), None)
    if own is not None:
        return f"you are {ordinal(own.place)} of {len(standings)}, {gap(state)}"
    first = [row for row in standings if row.place == 1]
    names = " and ".join(shown_name(row.name, row.bot) for row in first[:2])
    more = f" and {len(first) - 2} more" if len(first) > 2 else ""
    return f"{names}{more} {'leads' if len(first) == 1 else 'lead'} with {first[0].banked}"


class ChangeWriter:
    """A writer of the difference between each state of a table and the previous state."""

    def __init__(self, output: LineOutput, now: Callable[[], int]) -> None:
        """Create the writer; `now` returns the server's time in milliseconds since 1970."""
        self._output = output
        self._now = now
        self._state: SessionState | None = None
        self._race = ""
        self._rows: tuple[Row, ...] = ()
        self._news: tuple[News, ...] = ()
        """The race, the standings and the news of the last report that was not delayed."""
        self._reported_at = 0
        """The time of the race's last written report, by the server's clock."""
        self._timer: asyncio.TimerHandle | None = None
        self._is_paused = False
        self._last_over: SessionState | None = None
        """The last state with the result of a race; `None` before the first result."""

    def show(self, state: SessionState) -> None:
        """Write the changes since the previous state; for the first state, the whole table."""
        before, self._state = self._state, state
        if state.table_view.outcome is not None:
            self._last_over = state
        if self._is_paused:
            return
        style, now = self._output.style, self._now()
        if before is None:
            self._output.write_all(opening_lines(state, style, now))
        else:
            self._output.write_all(change_lines(before, state, style, now))
        self._report_standings(state)

    def over(self, state: SessionState) -> SessionState:
        """Return the state with the result of the last race; the present `state` before the first result."""
        if self._last_over is None or state.table_view.outcome is not None:
            return state
        return replace(self._last_over, verifications=state.verifications)

    def pause(self) -> None:
        """Write nothing until `resume`; changes in between are never written."""
        self._is_paused = True
        self._cancel_timer()

    def resume(self) -> None:
        """Write changes again, from now on."""
        self._is_paused = False

    def _report_standings(self, state: SessionState) -> None:
        """Write the changed standings if they are due, or start a timer until they are due."""
        self._cancel_timer()
        race, standings = state.table.race, tuple(rows(state.table_view))
        if state.phase != "running" or state.table_view.outcome is not None or race != self._race:
            self._reported_at = 0
        else:
            is_verbose, now = self._output.style.is_verbose, self._now()
            news = [each for each in newest(self._news, state.news) if each.kind in PACED]
            moved = [row for row in standings if row not in self._rows] if is_verbose else []
            wait = self._reported_at + (EVERY_VERBOSE if is_verbose else EVERY) - now
            if (news or moved) and wait > 0:
                self._timer = asyncio.get_running_loop().call_later(
                    wait / 1000, self._report_standings, state
                )
                return
            if is_verbose:
                news = [each for each in news if each.kind is Kind.EVEN]
            self._output.write_all(f"news: {text}" for text in _summarised(news, state))
            self._output.write_all(f"standing {standing_line(row)}" for row in moved)
            self._reported_at = now if news or moved else self._reported_at
        self._race, self._rows, self._news = race, standings, state.news

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
