"""The screen of the five seconds before the deal."""

from collections.abc import Iterable

from rich.console import RenderableType
from textual.widget import Widget

from saratoga_client.session.match_text import race_of_match
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.session.table_view import is_call
from saratoga_client.tui.base_screen import Guide
from saratoga_client.tui.pages.countdown import countdown_page
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import cap_words, game_title


class CountdownScreen(TableScreen):
    """The screen of the countdown: large digits between card backs."""

    _seconds = -1
    _is_call = False

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        # The title, message and key lines take three lines.
        width, height = self.size.width, self.size.height - 3
        return countdown_page(self.state, self.controls.now(), self.symbols, ink, width, height)

    def begin(self) -> None:
        self._say_part()

    def changed(self, state: SessionState) -> None:
        if is_call(state.table) != self._is_call:
            self._say_part()
        super().changed(state)

    def _say_part(self) -> None:
        """Show what the player can do in this part of the countdown."""
        seat, self._is_call = self.state.seat, is_call(self.state.table)
        if seat is None:
            self.say("You are watching this race. It shows the standings, not the boards.")
        elif self._is_call and not seat.ready:
            self.say("The host has started the race. Press r now to be in it.")
        elif self._is_call or self.state.table.racer(self.state.player):
            self.say("Get ready: all racers get the same deal at the same moment.")
        else:
            self.say("You weren't ready, so this race started without you.")

    def guide(self) -> Guide:
        seat = self.state.seat
        if seat is None or not is_call(self.state.table):
            return super().guide()
        return (*super().guide(), ("r", "not ready" if seat.ready else "ready"))

    def press(self, key: str) -> None:
        seat = self.state.seat
        if seat is not None and key == "r" and is_call(self.state.table):
            self.press_ready(seat)
        else:
            super().press(key)

    @property
    def seconds(self) -> int:
        """Seconds until the start, rounded up."""
        return -(-race_clock(self.state, self.controls.now()).until_start // 1000)

    def redraw(self) -> None:
        self.query_one(ScrollPage).redraw()
        super().redraw()

    def tick(self) -> None:
        if self.seconds != self._seconds:
            self._seconds = self.seconds
            self.redraw()

    def facts(self) -> list[str]:
        table = self.state.table
        title = game_title(table.settings.game).upper()
        starts = f"starts in {self.seconds} s"
        return [
            title,
            table.code,
            cap_words(table.settings.cap),
            starts,
            race_of_match(table, self.state.match),
        ]
