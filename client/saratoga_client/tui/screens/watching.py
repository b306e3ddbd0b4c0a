"""The screen of a race for players who do not race: standings, events and clock."""

from collections.abc import Iterable

from textual.widget import Widget

from saratoga_client.board_view.canvas import Canvas
from saratoga_client.board_view.roles import Role
from saratoga_client.session.match_text import race_of_match
from saratoga_client.session.state import race_clock
from saratoga_client.tui.base_screen import Key, Keys
from saratoga_client.tui.pages.live_chart import live_chart
from saratoga_client.tui.pages.panel import panel
from saratoga_client.tui.painted_rows import CanvasView
from saratoga_client.tui.table_screen import TableScreen
from saratoga_client.wording import game_title, minutes_and_seconds


class WatchingScreen(TableScreen):
    """The panel of a race on the whole screen; a key shows the chart in its place."""

    RESTING = "All boards can be seen when the race is over."

    @property
    def resting(self) -> str:
        is_left_out = self.state.is_left_out
        return f"You have a seat for the next race. {self.RESTING}" if is_left_out else self.RESTING

    shows_chart = False

    def body(self) -> Iterable[Widget]:
        yield CanvasView(self._draw, id="page")

    def _draw(self, width: int, height: int) -> Canvas:
        is_ascii = self.program.appearance.ascii
        draw = live_chart if self.shows_chart else panel
        return draw(self.state, width, height, self.controls.now(), ascii_only=is_ascii)

    def keys(self) -> Keys:
        label = "news" if self.shows_chart else "chart"
        sentence = "the chart of the race, or its news again"
        return (
            *self.end_race_keys(),
            Key("o", label, sentence, self._toggle_chart),
            *super().keys(),
        )

    def _toggle_chart(self) -> None:
        self.shows_chart = not self.shows_chart

    def facts(self) -> list[str]:
        table = self.state.table
        role = "not in this race" if self.state.is_left_out else "watching"
        facts = [game_title(table.settings.game).upper(), table.code, role]
        return [*facts, race_of_match(table, self.state.match)]

    def clock(self) -> tuple[str, Role]:
        time = race_clock(self.state, self.controls.now())
        return minutes_and_seconds(time.elapsed if time.left is None else time.left), Role.TITLE
