"""The screen with the chart of a race that runs, for watchers and for racers whose board has ended."""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.session.state import SessionState, race_clock
from saratoga_client.tui.base_screen import BaseScreen
from saratoga_client.tui.canvas_view import CanvasView
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.live_chart import live_chart
from saratoga_client.tui.ports import TableControls
from saratoga_client.wording import game_title, minutes_and_seconds

CHART_KEY: Final = "o"
"""The key that opens the chart, and closes it again."""


class LiveChartScreen(BaseScreen):
    """The standings with the chart; it closes by itself when the race is over."""

    ALWAYS: ClassVar[Guide] = ((CHART_KEY, "close the chart"), ("?", "help"), ("q", "back"))

    def __init__(self, table: TableControls) -> None:
        super().__init__()
        self.controls = table

    @property
    def state(self) -> SessionState:
        """The table's state now."""
        return self.controls.state

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        is_ascii = self.program.appearance.ascii
        return live_chart(self.state, width, height, self.controls.now(), ascii_only=is_ascii)

    def begin(self) -> None:
        self.say("All boards can be seen when the race is over.")

    def redraw(self) -> None:
        self.query_one("#page", CanvasView).redraw()
        super().redraw()

    def tick(self) -> None:
        if self.state.phase == "running":
            self.redraw()
        elif self.is_current:
            self.dismiss()

    def press(self, key: str) -> None:
        if key == CHART_KEY:
            self.dismiss()
        elif key == "?":
            self.controls.help()
        else:
            super().press(key)

    def guide(self) -> Guide:
        return (("t", "colours"),)

    def facts(self) -> list[str]:
        table = self.state.table
        return [game_title(table.settings.game).upper(), table.race, "banked over time"]

    def status(self) -> list[tuple[str, Role]]:
        time = race_clock(self.state, self.controls.now())
        shown = time.elapsed if time.left is None else time.left
        return [(minutes_and_seconds(shown), Role.TITLE)]
