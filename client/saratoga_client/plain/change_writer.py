"""Write one table's events as lines while they happen, for players and watchers."""

import asyncio
from collections.abc import Callable

from saratoga_client.plain.event_lines import change_lines, opening_lines
from saratoga_client.plain.output import LineOutput
from saratoga_client.plain.standings_rate import StandingsShown, report_standings
from saratoga_client.session.moments import LAST_MINUTE_WORDS, until_last_minute
from saratoga_client.session.state import SessionState


class ChangeWriter:
    """A writer of the difference between each state of a table and the previous state."""

    def __init__(self, output: LineOutput, now: Callable[[], int]) -> None:
        """Create the writer; `now` returns the server's time in milliseconds since 1970."""
        self._output = output
        self._now = now
        self._state: SessionState | None = None
        self._shown = StandingsShown()
        self._timer: asyncio.TimerHandle | None = None
        self._minute: asyncio.TimerHandle | None = None
        """The timer until the last minute of the race."""
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
        self._expect_last_minute()

    def pause(self) -> None:
        """Write nothing until `resume`; changes in between are never written."""
        self._is_paused = True
        self._cancel_timer()
        self._cancel_minute()

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

    def _expect_last_minute(self) -> None:
        """Start a timer that writes a line when the last minute of the race begins."""
        self._cancel_minute()
        assert self._state is not None, "a state was shown"
        wait = until_last_minute(self._state, self._now())
        if wait is not None:
            loop = asyncio.get_running_loop()
            self._minute = loop.call_later(wait / 1000, self._say_last_minute)

    def _say_last_minute(self) -> None:
        self._minute = None
        self._output.write_all([f"news: {LAST_MINUTE_WORDS.rstrip('.').lower()}"])

    def _cancel_minute(self) -> None:
        if self._minute is not None:
            self._minute.cancel()
            self._minute = None

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
