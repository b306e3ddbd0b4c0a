"""The five seconds before the deal."""

from collections.abc import Iterable

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.pages.countdown import countdown_page
from saratoga_client.tui.pages.figures import cap_text, game_title
from saratoga_client.tui.table_screen import TableScreen


class CountdownScreen(TableScreen):
    """The table lies face down."""

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        return countdown_page(self.evening, self.visit.now(), self.signs, width, height)

    def begin(self) -> None:
        is_racer = self.evening.player in self.evening.table.racers
        self.say(
            "Hands on the keys: everybody gets the same deal at the same moment."
            if is_racer
            else "You sit this one out, and see how the racers stand."
        )

    def changed(self, evening: SessionState) -> None:
        self.query_one("#page", CanvasView).redraw()
        super().changed(evening)

    def tick(self) -> None:
        self.query_one("#page", CanvasView).redraw()
        super().tick()

    def facts(self) -> list[str]:
        table = self.evening.table
        title = game_title(table.settings.game).upper()
        seconds = -(-race_clock(self.evening, self.visit.now()).until_start // 1000)
        return [title, table.code, cap_text(table.settings.cap), f"starts in {seconds} s"]
