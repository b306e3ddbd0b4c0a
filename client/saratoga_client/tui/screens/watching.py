"""The screen of a race for players who do not race: standings, events and clock."""

from collections.abc import Iterable
from typing import Final

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.session.match_text import race_of_match
from saratoga_client.session.state import race_clock
from saratoga_client.tui.base_screen import Keys
from saratoga_client.tui.pages.chart import draw_chart
from saratoga_client.tui.pages.panel import ROOMY, live_lines, money_of, panel
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import game_title, minutes_and_seconds

PANEL: Final = ROOMY - 1
"""Width of the standings in cells; the chart stands beside them."""
NARROW: Final = 80
"""Minimum width of a screen with the chart, in cells."""


class WatchingScreen(TableScreen):
    """The panel of a race and its chart."""

    RESTING = "All boards can be seen when the race is over."

    @property
    def resting(self) -> str:
        is_left_out = self.state.is_left_out
        return f"You have a seat for the next race. {self.RESTING}" if is_left_out else self.RESTING

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        state, now, symbols = self.state, self.controls.now(), self.symbols
        canvas, side = Canvas(width, height), min(width - 2, PANEL)
        canvas.paste(panel(state, side, height, now, symbols), 1, 0)
        if width >= NARROW:
            lines = live_lines(state, now, symbols, named=True)
            box = (side + 4, 1, width - side - 5, height - 2)
            draw_chart(canvas, box, lines, money_of(state), symbols)
        return canvas

    def keys(self) -> Keys:
        return (*self.end_race_keys(), *super().keys())

    def facts(self) -> list[str]:
        table = self.state.table
        role = "not in this race" if self.state.is_left_out else "watching"
        facts = [game_title(table.settings.game).upper(), table.code, role]
        return [*facts, race_of_match(table, self.state.match)]

    def clock(self) -> tuple[str, Role]:
        time = race_clock(self.state, self.controls.now())
        return minutes_and_seconds(time.elapsed if time.left is None else time.left), Role.TITLE
