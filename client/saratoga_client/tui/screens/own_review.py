"""The review of the player's own board while others still race: own moves only, no hidden cards."""

from dataclasses import replace
from typing import ClassVar

from saratoga_client.review.chart import ChartLine
from saratoga_client.review.replay import Replay
from saratoga_client.review.times import since_text
from saratoga_client.session.table_view import rows
from saratoga_client.tui.lines import Guide
from saratoga_client.tui.pages.live_chart import elapsed, live_lines
from saratoga_client.tui.pages.replay import ReplayState
from saratoga_client.tui.pages.solo_keys import OWN_REVIEW_KEYS, Keys
from saratoga_client.tui.ports import TableControls
from saratoga_client.tui.screens.replay import ReplayScreen


class OwnReviewScreen(ReplayScreen):
    """The player's own moves and pauses beside the chart of the running race."""

    HELP_KEYS: ClassVar[Keys] = OWN_REVIEW_KEYS

    def __init__(self, table: TableControls, replay: Replay) -> None:
        super().__init__(replay, table.state.player)
        self.controls = table
        self._live = self._lines()

    def _lines(self) -> tuple[ChartLine, ...]:
        state = self.controls.state
        return tuple(live_lines(state, max(elapsed(state, self.controls.now()), self.replay.end)))

    @property
    def shown(self) -> ReplayState:
        """The state that the title and the panel show."""
        return replace(super().shown, live=self._live)

    def begin(self) -> None:
        since = self.replay.board.since
        if since:
            self.say(f"Your moves {since_text(since)}. All boards open after the race.")
        else:
            self.say("Your moves. All boards can be seen when the race is over.")

    def game_keys(self) -> Guide:
        return (*super().game_keys(), ("q", "back to the race"))

    def tick(self) -> None:
        super().tick()
        state = self.controls.state
        if not self.is_current or state.phase != "running":
            # the chart keeps the end of the race, and the reader stays here
            return
        own = next((row for row in rows(state.table_view) if row.player == self.player), None)
        if own is not None:
            board = replace(self.replay.board, place=own.place)
            self.replay = replace(self.replay, boards=(board,))
        self._live = self._lines()
        self.redraw_side()
