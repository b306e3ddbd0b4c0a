"""After a race: the order and why, what the record tells, and one key for the next race."""

import asyncio
from collections.abc import Iterable

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.problems import Problem
from saratoga_client.session.state import SessionState
from saratoga_client.session.table_view import rows
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.figures import game_title
from saratoga_client.tui.pages.findings import Findings, findings_of
from saratoga_client.tui.pages.results import results_page
from saratoga_client.tui.scrolling import STEPS, Scroll
from saratoga_client.tui.table_screen import TableScreen


class ResultsScreen(TableScreen):
    """Everything about the race is open now."""

    _findings: Findings | None = None
    _scroll = Scroll()
    _advised = ""

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        return self._scroll.window(self._page(width, height), height)

    def _page(self, width: int, height: int) -> Canvas:
        return results_page(self.evening, self._findings, self.signs, width, height)

    def begin(self) -> None:
        self._advise()
        outcome = self.evening.table_view.outcome
        if outcome is not None:
            self.run_worker(self._read(outcome.race))

    def _advice(self) -> str:
        evening = self.evening
        own = next((row for row in rows(evening.table_view) if row.player == evening.player), None)
        place = "" if own is None else f"You came {_ordinal(own.place)}. "
        if evening.seat is None:
            return "The host gathers for the next race."
        if evening.is_host:
            return f"{place}n: the next race."
        seats = evening.table.seats
        host = next((seat.name for seat in seats if seat.player == evening.table.host), "the host")
        return f"{place}{host} is host and begins the next race."

    def _advise(self) -> None:
        """Say how to go on; anew only if that is another way now."""
        advice = self._advice()
        if advice != self._advised:
            self._advised = advice
            self.say(advice)

    def changed(self, evening: SessionState) -> None:
        self._advise()
        self.query_one("#page", CanvasView).redraw()
        super().changed(evening)

    def facts(self) -> list[str]:
        table = self.evening.table
        return [f"{game_title(table.settings.game).upper()}", table.race, "the race is over"]

    def guide(self) -> Guide:
        keys = [("n", "next race")] if self.evening.is_host else []
        if self._findings is not None:
            keys += [("v", "see all boards"), ("y", "copy to share")]
        view = self.query_one("#page", CanvasView)
        if self._page(*view.size).height > view.size.height:
            keys.append(("up down", "scroll"))
        return [*keys, ("t", "colours")]

    async def _read(self, race: str) -> None:
        """Have the record, and look at it."""
        try:
            record = await self.visit.seat.record(race)
        except Problem as problem:
            self.say(f"The record cannot be had: {problem}", Role.WARNING)
            return
        self._findings = await asyncio.to_thread(findings_of, record, self.evening.player)
        self.query_one("#page", CanvasView).redraw()
        self.show_lines()

    def press(self, key: str) -> None:
        match key:
            case "n" if self.evening.is_host:
                self.visit.do(self.visit.seat.next_race())
                self.say("Gathering for the next race.")
            case "n":
                self.say(self._advice())
            case "v" | "y" if self._findings is None:
                self.say("The record is not here yet.")
            case "v" if self._findings is not None:
                self.visit.review(self._findings)
            case "y":
                self._share()
            case _ if key in STEPS:
                self._move(key)
            case _:
                super().press(key)

    def _move(self, key: str) -> None:
        view = self.query_one("#page", CanvasView)
        height = view.size.height
        self._scroll = self._scroll.press(key, self._page(*view.size).height, height)
        view.redraw()

    def on_mouse_scroll_down(self) -> None:
        self._move("down")

    def on_mouse_scroll_up(self) -> None:
        self._move("up")

    def _share(self) -> None:
        assert self._findings is not None, "asked only when there is a record"
        self.app.copy_to_clipboard(self._findings.share)
        self.say("The result is on your clipboard, if your terminal allows that (OSC 52).")


def _ordinal(place: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(place, f"in on place {place}")
