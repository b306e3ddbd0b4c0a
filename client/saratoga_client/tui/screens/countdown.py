"""The screen of the five seconds before the deal."""

from collections.abc import Iterable

from rich.console import RenderableType
from textual.widget import Widget

from saratoga_client.session.state import race_clock
from saratoga_client.tui.pages.countdown import countdown_page
from saratoga_client.tui.pages.figures import game_title
from saratoga_client.tui.rich_view import Ink, RichView, ScrollPage
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import cap_words


class CountdownScreen(TableScreen):
    """The screen of the countdown: large digits between card backs."""

    _seconds = -1

    def body(self) -> Iterable[Widget]:
        with ScrollPage():
            yield RichView(self._draw)

    def _draw(self, ink: Ink) -> RenderableType:
        # The title, message and key lines take three lines.
        width, height = self.size.width, self.size.height - 3
        return countdown_page(self.state, self.controls.now(), self.symbols, ink, width, height)

    def begin(self) -> None:
        if self.state.player in self.state.table.racers:
            self.say("Get ready: all racers get the same deal at the same moment.")
        elif self.state.seat is None:
            self.say("You are watching this race. It shows the standings, not the boards.")
        else:
            self.say("You weren't ready, so this race started without you.")

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
        return [title, table.code, cap_words(table.settings.cap), f"starts in {self.seconds} s"]
