"""The screen after a race: the results, and keys for the review and the next race."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from rich.console import RenderableType
from textual.widget import Widget

from saratoga_client.board_view.roles import Role
from saratoga_client.problems import Problem
from saratoga_client.session.match_text import with_match
from saratoga_client.session.news import seat_news
from saratoga_client.session.result_text import own_place
from saratoga_client.session.state import SessionState, Verification
from saratoga_client.session.table_view import rows
from saratoga_client.tui.base_screen import Guide
from saratoga_client.tui.pages.findings import Findings, findings_of
from saratoga_client.tui.pages.results import results_page
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import game_title
from saratoga_protocol.events import Table


class ResultsScreen(TableScreen):
    """The screen of the results of a finished race."""

    _findings: Findings | None = None
    _read_with: tuple[str, Verification | None] = "", None
    """The race whose record was requested last, and what was known of its verification then."""
    _known: Table
    """The table whose seats the message line has described."""
    _advised = ""
    """The last advice that the message line showed."""

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        return results_page(self.state, self._findings, self.symbols, ink, *self.size)

    def begin(self) -> None:
        self._known = self.state.table
        self._begin_reading(self.state)

    def _begin_reading(self, state: SessionState) -> None:
        """Read the record once the result is there, and again once it is verified."""
        outcome = state.table_view.outcome
        if outcome is None or self._findings is not None:
            return
        known = outcome.race, state.verifications.get(outcome.race)
        if known != self._read_with:
            self._read_with = known
            name = "read the record"
            self.run_worker(self._read(outcome.race), name=name, group=name, exclusive=True)

    def changed(self, state: SessionState) -> None:
        news = seat_news(self._known, state.table, state.player)
        self._known = state.table
        self._begin_reading(state)
        if not self.say_alarm(state) and news and not self.is_asking:
            self._advised = self._advice()
            self.say(f"{news} {self._advised}")
        self.warn_host(state)
        super().changed(state)

    @property
    def resting(self) -> str:
        return self._advice()

    def tick(self) -> None:
        super().tick()
        self.report_link()

    def redraw(self) -> None:
        advice = self._advice()
        if advice != self._advised:
            self._advised = advice
            self.say(advice)
        self.query_one(ScrollPage).redraw()
        super().redraw()

    def _advice(self) -> str:
        state = self.state
        own = next((row for row in rows(state.table_view) if row.player == state.player), None)
        place = f"{finished}. " if (finished := own_place(state)) else ""
        if state.is_host:
            return f"{place}Press n for the next race."
        seats = state.table.seats
        host = next((seat.name for seat in seats if seat.player == state.table.host), "the host")
        if own is not None and own.state == "ended-by-host":
            place = f"{host} has ended your race. {place}"
        if state.host_until == state.table.race:
            return f"You were away for three minutes, so {host} is host now. {place}".rstrip()
        return f"{place}{host} is the host and opens the next race."

    def facts(self) -> list[str]:
        table = self.state.table
        return [game_title(table.settings.game).upper(), table.race, "the race is over"]

    def guide(self) -> Guide:
        keys = [("n", "next race")] if self.state.is_host and self.state.is_connected else []
        if self._findings is not None:
            keys += [("v", "see all boards"), ("y", "copy to share")]
        return [*keys, *self.scroll_guide(), ("t", "colours")]

    async def _read(self, race: str) -> None:
        """Get the record of the race, from this machine or the server, and show its findings."""
        try:
            record = await self.controls.seat.record(race)
        except Problem as problem:
            self.say(f"The server sent no record of this race: {problem}", Role.WARNING)
            return
        self._findings = await asyncio.to_thread(
            findings_of,
            record,
            self.state.player,
            self.state.table_view.levels,
            self.controls.friends_server,
        )
        self.redraw()

    def _shared(self, findings: Findings) -> Findings:
        """Return the findings whose text for friends has lines on the match of the race."""
        levels = self.state.table_view.levels
        return replace(findings, share=with_match(findings.share, self.state.match, levels))

    def press(self, key: str) -> None:
        match key:
            case "n" if self.state.is_host:
                self.controls.do(self.controls.seat.next_race())
                self.say("Opening the table for the next race.")
            case "n":
                self.say(self._advice())
            case "e":
                # pressed to end the race, which has just ended by itself
                self.say(f"The race is over. {self._advice()}")
            case "v" | "y" if self._findings is None:
                self.say("The record of this race has not arrived yet.")
            case "v" if self._findings is not None:
                self.controls.review(self._shared(self._findings))
            case "y" if self._findings is not None:
                self.app.copy_to_clipboard(self._shared(self._findings).share)
                self.say("The result is on your clipboard, if your terminal supports OSC 52.")
            case _:
                super().press(key)
