"""A race seen from beside: where everybody stands, as the racers see it; no board."""

from collections.abc import Iterable

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.pages.figures import game_title, minutes
from saratoga_client.tui.pages.panel import panel
from saratoga_client.tui.table_screen import TableScreen


class WatchingScreen(TableScreen):
    """Standings, news and the clock."""

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        is_ascii = self.program.appearance.ascii
        return panel(self.evening, width, height, self.visit.now(), ascii_only=is_ascii)

    def begin(self) -> None:
        self.say("Boards are open to all when the race is over.")

    def changed(self, evening: SessionState) -> None:
        self.query_one("#page", CanvasView).redraw()
        super().changed(evening)

    def tick(self) -> None:
        self.query_one("#page", CanvasView).redraw()
        super().tick()

    def facts(self) -> list[str]:
        table = self.evening.table
        return [game_title(table.settings.game).upper(), table.code, "watching"]

    def clock(self) -> tuple[str, Role]:
        time = race_clock(self.evening, self.visit.now())
        return minutes(time.elapsed if time.left is None else time.left), Role.TITLE
